import { isReportCode, type ReportCode } from '../receiver/refusals.ts';
import { propertyOf } from '../receiver/values/foreign-values.ts';
import { parseJson } from '../service/shapes/parse-json.ts';
import type { Sender } from './sender-advice.ts';
import { colours, line, type TerminalText } from './terminal-text.ts';

/** A delivery that has ended: the request as it was sent, and its answer or the reason why there is none. */
export interface EndedDelivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True if its body was changed after it was signed: a receiver must refuse it. */
  readonly changed?: boolean | undefined;
  readonly status?: number | undefined;
  /** The reason if there was no answer. */
  readonly error?: string | undefined;
  readonly body?: string | undefined;
}

/** Writes a sentence for the delivery to `url`. Nothing that the other side sent is quoted in it. */
type Advice = (sender: Sender, url: URL, headers: EndedDelivery['headers']) => string;

/**
 * One sentence about a delivery that was refused: what the refusal means, and what to do. Undefined after a
 * success, after a refusal that was asked for, and if the log of the receiver alone can explain it.
 */
export function adviceOn(delivery: EndedDelivery, sender: Sender): string | undefined {
  const { url, headers } = delivery;
  // A sandbox that answers `posthorn trigger` may say anything.
  if (!URL.canParse(url)) return undefined;
  return findAdvice(delivery)?.(sender, new URL(url), headers);
}

/** The advice as a line below that of its delivery. */
export function lineOfAdvice(advice: string): TerminalText {
  return line`  ${colours.doubtful(advice)}`;
}

function findAdvice({ changed, status, error = '', body = '' }: EndedDelivery): Advice | undefined {
  if (status === undefined) return ofErrors.find(([pattern]) => pattern.test(error))?.[1];
  if (status >= 200 && status <= 299) return undefined;
  const code = propertyOf(parseJson(body), 'code');
  const isPosthorns = typeof code === 'string' && isReportCode(code);
  if (changed && status === 403 && (!isPosthorns || code === 'signature_mismatch')) return undefined;
  return isPosthorns ? ofCodes[code] : adviceOfStatus(status);
}

const CREDENTIALS = 'BASIC_USERNAME and BASIC_PASSWORD (--basic), or BEARER_TOKEN (--bearer)';

const otherHeader: Advice = (sender, _url, headers) => {
  const [name = ''] = Object.entries(headers).find(([, value]) => /^[0-9a-f]{64}$/.test(value)) ?? [];
  return sender.otherHeader(name);
};

const bodyBroken: Advice = () =>
  'the body did not arrive whole: look for a proxy before the receiver that holds it back or cuts it';

/** Answers of a posthorn receiver. A code without an entry says enough, or the log of the receiver does. */
const ofCodes: { readonly [Code in ReportCode]?: Advice } = {
  not_found: ({ set }, { pathname }) =>
    `the receiver is mounted at another path than ${pathname}: ${set('its path', '--to')}`,
  method_not_allowed: () =>
    'the request reached the receiver with another method than POST: look for a proxy that changes it',
  credentials_invalid: ({ set }, _url, { authorization }) =>
    authorization === undefined
      ? `the receiver expects credentials (its option authentication), and none were sent: ${set('them', CREDENTIALS)}`
      : `the receiver expects other credentials (its option authentication): ${set('them', CREDENTIALS)}`,
  signature_missing: otherHeader,
  signature_malformed: otherHeader,
  signature_repeated: () =>
    'the signature reached the receiver twice: look for a proxy before it that adds a header',
  signature_mismatch: ({ otherKey }) => otherKey,
  encoding_unsupported: () =>
    'the body reached the receiver compressed: look for a proxy before it that compresses requests',
  body_too_large: () =>
    'the event is longer than the receiver accepts: send less data, or raise its option maxBodyBytes',
  body_timeout: bodyBroken,
  body_incomplete: bodyBroken,
  event_too_old: () =>
    'the event is older than the receiver accepts: send a newer one, or raise its option maxEventAgeMs',
  event_in_future: () =>
    "the event is over 5 minutes ahead of the receiver's clock: set the clocks right; a sandbox whose clock was " +
    'moved must be started again',
  body_already_parsed: () =>
    'a body parser read the body before the receiver could: mount the receiver before it',
  no_handlers: () => 'the receiver has no handler yet: call receiver.on before its server listens',
};

const elsewhere: Advice = () =>
  'something else answers in place of the receiver: see whether the receiver runs';

/** Answers of something else than a posthorn receiver. */
const ofStatuses: ReadonlyMap<number, Advice> = new Map([
  [401, () => 'something before the receiver, such as a login, wants credentials of its own'],
  [
    403,
    () =>
      'something before the receiver refuses the request, such as protection against CSRF; or a receiver ' +
      'without posthorn has another signing key',
  ],
  [
    404,
    ({ set }, { pathname }) =>
      `nothing is mounted at ${pathname}. The mount of the receiver decides the path: ${set('the right one', '--to')}`,
  ],
  [
    405,
    ({ set }, { pathname }) =>
      `another route at ${pathname} does not take POST. The mount of the receiver decides the path: ` +
      set('the right one', '--to'),
  ],
  [413, () => 'a proxy or a body parser before the receiver limits bodies: raise its limit'],
  [
    415,
    () =>
      'the server refuses application/json before the receiver sees it: mount the receiver before body parsers',
  ],
  [429, () => 'something before the receiver limits requests: exempt the path of the webhooks'],
  [502, elsewhere],
  [503, elsewhere],
  [504, elsewhere],
]);

const unexplained: Advice = (_sender, { origin }) => `the log of the server at ${origin} may say more`;

function adviceOfStatus(status: number): Advice {
  if (status >= 300 && status <= 399) {
    return ({ set }) =>
      `a redirect is not followed, and the service does not follow it either: ${set('the final address', '--to')}`;
  }
  const advice = ofStatuses.get(status) ?? unexplained;
  return (...details) => `the answer is not posthorn's: ${advice(...details)}`;
}

/** Reasons why there was no answer, in the words of Node.js and OpenSSL. */
const ofErrors: readonly (readonly [RegExp, Advice])[] = [
  [
    /ECONNREFUSED/,
    ({ set }, { origin }) =>
      `nothing listens at ${origin}: start the receiver, or ${set('its address', '--to')}`,
  ],
  [
    /ENOTFOUND|EAI_AGAIN/,
    ({ set }, { hostname }) =>
      `the name ${hostname} does not lead to a machine: ${set('the right address', '--to')}`,
  ],
  [
    /wrong version number|packet length too long/i,
    ({ set }, { host }) =>
      `the server at ${host} does not speak TLS: ${set('an address with http:', '--to')}`,
  ],
  [
    /certificate|altnames/i,
    ({ set }, { host }) =>
      `Node.js does not trust the certificate of ${host}: name its authority in NODE_EXTRA_CA_CERTS, or on this ` +
      `machine ${set('an address with http:', '--to')}`,
  ],
  [
    /socket hang up|ECONNRESET|other side closed/,
    () =>
      'the server ended the connection without an answer: it has crashed, or expects https: in the address',
  ],
  [
    /no answer within|due to timeout/,
    () =>
      'no answer came within 30 seconds, and a posthorn receiver answers earlier: look for middleware before it that ' +
      'does not go on',
  ],
];
