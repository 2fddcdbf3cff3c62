import { programName } from './program-name.ts';

/** A command that has a delivery sent, in the words of advice on it: how the user changes what is sent. */
export interface Sender {
  /** Says in words that an option must be set to a value. */
  readonly set: (value: string, option: string) => string;
  /** The advice if the receiver has another signing key. A key itself is never printed. */
  readonly otherKey: string;
  /** The advice if the receiver does not find the signature, which was sent in this header. */
  readonly otherHeader: (header: string) => string;
}

/** The service's receivers can name the header. */
function setHeader(set: Sender['set'], header: string): string {
  return (
    `the receiver reads the signature from another header than ${header} (its option signatureHeader): ` +
    set('its name', '--signature-header')
  );
}

const KEY = 'SIGNING_KEY or --key';

/** `posthorn dev`, about deliveries to the webhook that it has created. */
export function devSender(isKeyGiven: boolean): Sender {
  const set: Sender['set'] = (value, option) => `start ${programName()} dev again with ${value} in ${option}`;
  const otherKey = isKeyGiven
    ? `most likely the receiver has another signing key than the one of ${KEY}: start the receiver with that one, ` +
      `or ${set("the receiver's", KEY)}`
    : 'most likely the receiver has another signing key than the one that was printed at the start: start the ' +
      `receiver with that one, or ${set("the receiver's", KEY)}`;
  return { set, otherKey, otherHeader: (header) => setHeader(set, header) };
}

/** `posthorn send`, which plays this provider. Some receivers can name the header of its signature. */
export function sendSender(provider: string, canSetHeader: boolean): Sender {
  const set: Sender['set'] = (value, option) => `give ${value} in ${option}`;
  const otherKey = `most likely the receiver has another signing key than the one of ${KEY}: ${set("the receiver's", KEY)}`;
  const otherProvider = `the receiver does not take events of ${provider}: ${set('its provider', '--provider')}`;
  const otherHeader: Sender['otherHeader'] = (header) =>
    canSetHeader ? `${setHeader(set, header)}; or ${otherProvider}` : otherProvider;
  return { set, otherKey, otherHeader };
}

/** A sandbox whose webhooks are unknown: `posthorn dev`, `posthorn sandbox` or a program has started it. */
export function sandboxSender(): Sender {
  const set: Sender['set'] = (value, option) => `${programName()} dev takes ${value} from ${option}`;
  const otherKey =
    'most likely the receiver has another signing key than the webhook: give both the same; ' +
    set("the receiver's", KEY);
  return { set, otherKey, otherHeader: (header) => setHeader(set, header) };
}
