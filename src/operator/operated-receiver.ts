import { checkReceiver } from '../receiver/checks/check-options.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import type { WebhookReceiver } from '../receiver/receiver.ts';
import { propertyOf, show } from '../receiver/values/foreign-values.ts';
import type { Receiver } from '../receiver-interface.ts';
import { RecentReports } from './recent-reports.ts';

/** The part of a receiver that an operator uses. */
export type Operable = Pick<
  Receiver,
  'name' | 'deadLetters' | 'replay' | 'drop' | 'rerun' | 'health' | 'observe'
>;

/** Several receivers, by the names under which an operator asks for them. */
export type OperableByName = Readonly<Record<string, Operable>>;

/** A receiver with the methods that only commands and this interface use. */
type OwnReceiver = Operable & Pick<WebhookReceiver, 'settings' | 'checkRerun' | 'foreseeRerun'>;

/** A receiver, and the deliveries that it answered since it was mounted. */
export interface OperatedReceiver {
  /** Undefined if it is the only one, without a name. */
  readonly name: string | undefined;
  readonly receiver: OwnReceiver;
  readonly reports: RecentReports;
}

const METHODS = ['replay', 'drop', 'rerun', 'health', 'observe', 'checkRerun', 'foreseeRerun'];

/**
 * Reads the first argument of `toOperator`: a receiver, or several by name. Observes each. Throws
 * ConfigurationError.
 */
export function readReceivers(
  functionName: string,
  given: Operable | OperableByName,
): readonly OperatedReceiver[] {
  if (typeof propertyOf(given, 'receive') === 'function' || Object(given) !== given)
    return [operate(functionName, undefined, given)];
  const receivers = Object.entries(given).map(([name, receiver]) => operate(functionName, name, receiver));
  if (receivers.length > 0) return receivers;
  throw new ConfigurationError(
    `${functionName} takes a receiver, or an object of receivers by name; got ${show(given)}`,
  );
}

function operate(functionName: string, name: string | undefined, receiver: unknown): OperatedReceiver {
  checkReceiver(receiver, functionName, METHODS);
  if (!isOwn(receiver))
    throw new ConfigurationError(`${functionName} takes receivers of this version of posthorn`);
  const reports = new RecentReports(receiver.settings.now());
  receiver.observe((report) => reports.add(report), { keepDefaultLog: true });
  return { name: name ?? receiver.name, receiver, reports };
}

function isOwn(receiver: unknown): receiver is OwnReceiver {
  return typeof propertyOf(receiver, 'settings') === 'object';
}
