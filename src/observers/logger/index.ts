import { checkReceiver } from '../../receiver/checks/check-options.ts';
import { ConfigurationError, InternalError } from '../../receiver/errors.ts';
import { LineLimit, leftOutLine, mayFlood, reportsWith } from '../../receiver/outcomes/line-limit.ts';
import { oneLine } from '../../receiver/outcomes/one-line.ts';
import type { ObserveOptions, Observer, Report } from '../../receiver/outcomes/report.ts';
import {
  ENDPOINT_AT_RISK,
  headlineOf,
  isRoutine,
  printObserverFailure,
} from '../../receiver/outcomes/report-log.ts';
import { providerOf } from '../../receiver/provider/provider-of.ts';
import type { ReportCode } from '../../receiver/refusals.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';
import { type LogFields, toLogFields } from './log-fields.ts';

export type { LogFields } from './log-fields.ts';

const levels = ['info', 'warn', 'error'] as const;

type Level = (typeof levels)[number];

/** A logger that takes the message first, and also has a method `log`: winston, console. */
export interface MessageFirstLogger {
  /** Marks this kind of logger; it is never called. */
  log(...line: never[]): unknown;
  /** Takes routine lines. */
  info(message: string, fields: LogFields): unknown;
  /** Takes lines that deserve a look. */
  warn(message: string, fields: LogFields): unknown;
  /** Takes lines that require action. */
  error(message: string, fields: LogFields): unknown;
}

/** A logger that takes the fields first, without a method `log`: pino, the logger of Fastify, bunyan. */
export interface FieldsFirstLogger {
  /** Its absence marks this kind of logger. */
  readonly log?: undefined;
  /** Takes routine lines. */
  info(fields: LogFields, message: string): unknown;
  /** Takes lines that deserve a look. */
  warn(fields: LogFields, message: string): unknown;
  /** Takes lines that require action. */
  error(fields: LogFields, message: string): unknown;
}

/** Takes the lines of {@link observeWithLogger}. */
export type Logger = MessageFirstLogger | FieldsFirstLogger;

/** The parts of a receiver that are logged, whatever its provider. */
export interface LoggedReceiver {
  /** See `Receiver.name`. */
  readonly name?: string | undefined;
  /** See `Receiver.observe`. */
  observe(observer: Observer, options?: ObserveOptions): unknown;
}

/**
 * Logs one line for each report of a receiver: `info` for routine, `warn` for a report that deserves a look,
 * `error` for one that requires action. A line has a short message and fields, without payload and secrets.
 * Of rejections, and of deliveries without a valid signature, it logs five a minute for each code, and then
 * the number of the others.
 *
 * A logger that throws, rejects or hangs does not change any answer. As an observer it switches the default
 * log off.
 *
 * @throws ConfigurationError for a logger without `info`, `warn` or `error`.
 *
 * @example
 * ```ts
 * import { pino } from 'pino';
 * import { observeWithLogger } from 'posthorn/logger';
 *
 * observeWithLogger(receiver, pino());
 * ```
 */
export function observeWithLogger(receiver: LoggedReceiver, logger: Logger): void {
  checkReceiver(receiver, 'observeWithLogger', ['observe']);
  checkLogger(logger);
  const { name } = receiver;
  const { storedName: provider } = providerOf(receiver);
  const limit = new LineLimit<ReportCode | undefined>((code, leftOut) => {
    void tellLeftOut(logger, { receiver: name && oneLine(name), provider, code, leftOut });
  });
  receiver.observe((report) => {
    limit.endIfOver();
    if (mayFlood(report) && !limit.admit(report.code)) return undefined;
    return write(logger, levelOf(report), toLogFields(report, provider), messageFor(report));
  });
}

function checkLogger(logger: Logger): void {
  const missing = levels.find((level) => typeof propertyOf(logger, level) !== 'function');
  if (missing === undefined) return;
  throw new ConfigurationError(
    `the logger of observeWithLogger lacks the method ${missing}(); it needs info, warn and error. Give ` +
      'one that calls yours: { info: (fields, message) => …, warn: …, error: … }',
  );
}

/** Looks the methods up for each line, because pino replaces its methods when its level changes. */
function write(logger: Logger, level: Level, fields: LogFields, message: string): unknown {
  return typeof logger.log === 'function' ? logger[level](message, fields) : logger[level](fields, message);
}

interface LeftOut extends LogFields {
  readonly leftOut: number;
}

/** Catches the errors of the logger, because a timer calls it. */
async function tellLeftOut(logger: Logger, fields: LeftOut): Promise<void> {
  try {
    await write(logger, 'warn', fields, leftOutLine(fields.leftOut, reportsWith(fields.code)));
  } catch (error) {
    printObserverFailure(error);
  }
}

function levelOf(report: Report): Level {
  if (isRoutine(report)) return 'info';
  const { endpointAtRisk, error } = report;
  const isProgramWrong = error instanceof ConfigurationError || error instanceof InternalError;
  return isGivenUp(report) || endpointAtRisk || isProgramWrong ? 'error' : 'warn';
}

function isGivenUp({ outcome, final }: Report): boolean {
  switch (outcome) {
    case 'parked':
      return true;
    case 'failed':
      return final === true;
    case 'processed':
    case 'duplicate':
    case 'ignored':
    case 'queued':
    case 'handshake':
    case 'rejected':
    case 'busy':
      return false;
  }
}

/** A message without foreign text: for console and winston a `%` in it would be a directive. */
function messageFor(report: Report): string {
  const code = report.code === undefined ? '' : ` ${report.code}`;
  return `${headlineOf(report)}${code}${report.endpointAtRisk ? ` ${ENDPOINT_AT_RISK}` : ''}`;
}
