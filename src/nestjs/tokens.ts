import { Inject } from '@nestjs/common';
import { invalidOption } from '../receiver/checks/check-options.ts';
import { show } from '../receiver/values/foreign-values.ts';

/**
 * Returns the injection token of a receiver: of the one with this name, or of the one without a name. It is
 * the same in the ESM and in the CommonJS build.
 *
 * @throws ConfigurationError for a name that is not a text, or empty.
 *
 * @example
 * ```ts
 * import type { Receiver } from 'posthorn';
 * import { getReceiverToken } from 'posthorn/nestjs';
 *
 * const receiver = app.get<Receiver>(getReceiverToken());
 * ```
 */
export function getReceiverToken(name?: string): symbol {
  checkName('name', name);
  return Symbol.for(name === undefined ? 'posthorn.receiver' : `posthorn.receiver:${name}`);
}

/**
 * Injects a receiver: the one with this name, or the one without a name. `PosthornModule` is global, so any
 * provider can have it.
 *
 * @example
 * ```ts
 * import type { Receiver } from 'posthorn';
 * import { InjectReceiver } from 'posthorn/nestjs';
 *
 * constructor(@InjectReceiver() private readonly receiver: Receiver) {}
 * ```
 */
export function InjectReceiver(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getReceiverToken(name));
}

/** Throws ConfigurationError for a value that cannot name a receiver. */
export function checkName(option: string, name: unknown): void {
  if (name === undefined || (typeof name === 'string' && name !== '')) return;
  throw invalidOption(option, `must be the name of a receiver, or be left out; got ${show(name)}`);
}

// Tokens inside PosthornModule. By `Symbol.for` a module of one build finds those of the other.

export const RECEIVER_LIFECYCLE: symbol = Symbol.for('posthorn.nestjs.receiver-lifecycle');
export const WORKER_LIFECYCLE: symbol = Symbol.for('posthorn.nestjs.worker-lifecycle');
export const OPTIONS: symbol = Symbol.for('posthorn.nestjs.options');
