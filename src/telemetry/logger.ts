import { checkReceiver } from '../check-options.ts';
import { ConfigurationError, InternalError } from '../errors.ts';
import { propertyOf } from '../foreign-values.ts';
import { deliveriesWith, LineLimit, leftOutLine, mayFlood } from '../outcomes/line-limit.ts';
import type { ReportCode } from '../outcomes/outcome.ts';
import type { Report } from '../outcomes/report.ts';
import { ENDPOINT_AT_RISK, headlineOf, isRoutine, printObserverFailure } from '../outcomes/report-log.ts';
import type { Receiver } from '../receiver-interface.ts';
import { type LogFields, toLogFields } from './log-fields.ts';

export type { LogFields } from './log-fields.ts';

const levels = ['info', 'warn', 'error'] as const;

type Level = (typeof levels)[number];

/** A logger that takes the message first, and has a method `log` as well: winston, console. */
export interface MessageFirstLogger {
  /** Tells this kind of logger apart; it is not called. */
  log(...line: never[]): unknown;
  /** Takes what is routine. */
  info(message: string, fields: LogFields): unknown;
  /** Takes what wants a look. */
  warn(message: string, fields: LogFields): unknown;
  /** Takes what needs somebody to act. */
  error(message: string, fields: LogFields): unknown;
}

/** A logger that takes the fields first, and has no method `log`: pino, the logger of Fastify, bunyan. */
export interface FieldsFirstLogger {
  /** Its absence tells this kind of logger apart. */
  readonly log?: undefined;
  /** Takes what is routine. */
  info(fields: LogFields, message: string): unknown;
  /** Takes what wants a look. */
  warn(fields: LogFields, message: string): unknown;
  /** Takes what needs somebody to act. */
  error(fields: LogFields, message: string): unknown;
}

/** Takes the lines of {@link observeWithLogger}. */
export type Logger = MessageFirstLogger | FieldsFirstLogger;

/**
 * Logs one line for each report of a receiver: `info` for what is routine, `warn` for what wants a look,
 * `error` for what needs somebody to act. A line has a short message and fields, without payload and without
 * a secret. Of deliveries without a valid signature, and of rejections, it logs five a minute for each code,
 * and then how many others there were.
 *
 * A logger that throws, rejects or hangs changes no answer. As an observer it switches the default log off.
 *
 * @throws ConfigurationError for a logger without `info`, `warn` or `error`.
 *
 * @example
 * ```ts
 * observeWithLogger(receiver, pino());
 * ```
 */
export function observeWithLogger(receiver: Pick<Receiver, 'observe'>, logger: Logger): void {
  checkReceiver(receiver, 'observeWithLogger', ['observe']);
  checkLogger(logger);
  const limit = new LineLimit<ReportCode | undefined>((code, leftOut) => {
    void tellLeftOut(logger, code, leftOut);
  });
  receiver.observe((report) => {
    limit.endIfOver();
    if (mayFlood(report) && !limit.admit(report.code)) return undefined;
    return write(logger, levelOf(report), toLogFields(report), messageFor(report));
  });
}

function checkLogger(logger: Logger): void {
  const missing = levels.find((level) => typeof propertyOf(logger, level) !== 'function');
  if (missing === undefined) return;
  throw new ConfigurationError(
    `the logger of observeWithLogger has no method ${missing}(); it needs info, warn and error. Give ` +
      'one that calls yours: { info: (fields, message) => …, warn: …, error: … }',
  );
}

/** The methods are looked up for each line: a change of its level replaces those of pino. */
function write(logger: Logger, level: Level, fields: LogFields, message: string): unknown {
  return typeof logger.log === 'function' ? logger[level](message, fields) : logger[level](fields, message);
}

/** A timer calls it, so nobody else would catch what the logger throws. */
async function tellLeftOut(logger: Logger, code: ReportCode | undefined, leftOut: number): Promise<void> {
  try {
    await write(logger, 'warn', { code, leftOut }, leftOutLine(leftOut, deliveriesWith(code)));
  } catch (error) {
    printObserverFailure(error);
  }
}

function levelOf(report: Report): Level {
  if (isRoutine(report)) return 'info';
  const { outcome, final, endpointAtRisk, error } = report;
  const isGivenUp = outcome === 'parked' || endpointAtRisk || (outcome === 'failed' && final === true);
  const isProgramWrong = error instanceof ConfigurationError || error instanceof InternalError;
  return isGivenUp || isProgramWrong ? 'error' : 'warn';
}

/** Nothing in it comes from elsewhere: a `%` would be a directive for console and winston. */
function messageFor(report: Report): string {
  const code = report.code === undefined ? '' : ` ${report.code}`;
  return `${headlineOf(report)}${code}${report.endpointAtRisk ? ` ${ENDPOINT_AT_RISK}` : ''}`;
}
