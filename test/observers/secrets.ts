import { KEY } from '../support/served.ts';

/** A key that the receiver does not know. */
export const OTHER_KEY = 'whsec_of_somebody_else';
/** Of a secrets manager, or of a stranger. */
export const VAULT_TOKEN = 'hvs.CAESIJ1vault';

export const basic = {
  type: 'BASIC',
  basic: { username: 'billing', password: 'pa55word-of-billing' },
} as const;
export const bearer = { type: 'BEARER', bearer: { token: 'tok_9f8e7d6c5b4a' } } as const;

/** The data of an event, with values of every kind. */
export const payload = {
  id: 'res_5d41402abc4b2a76',
  state: 'SUCCEEDED',
  amount: 987_654_321,
  fee: 0.0731,
  name: 'Ada "Countess" Lovelace\nLondon',
  iban: 'DE89370400440532013000',
  card: '4111111111111111',
  tags: { order: 'ord_77-31', é: 'Zürich' },
  parties: [{ email: 'ada@example.com' }, 'acct_1029384756'],
};

/** An error of a client such as axios or pg: it carries what was sent, and causes that do as well. */
export function leakyError(message: string): Error {
  const detail = `Key (iban)=(${payload.iban}) already exists.`;
  const request = {
    data: JSON.stringify(payload),
    headers: { authorization: `Bearer ${bearer.bearer.token}`, 'x-vault-token': VAULT_TOKEN },
    key: KEY,
  };
  const cause = Object.assign(new Error(`${detail} ${VAULT_TOKEN} ${KEY}`), { detail, request });
  const error = new Error(message, { cause });
  return Object.assign(error, { detail, config: request, toJSON: () => ({ message, config: request }) });
}

/** Each text and number in a value, however deep. */
export function leavesOf(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf);
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

const fixed = [KEY, OTHER_KEY, VAULT_TOKEN, basic.basic.password, bearer.bearer.token];

/** Those of the secrets, and of `more`, that are in a text, as they are or in base64 or hex. */
export function secretsIn(text: string, more: readonly string[]): string[] {
  const all = [...new Set([...fixed, ...leavesOf(payload), ...more])];
  return all.filter((secret) => formsOf(secret).some((form) => holds(text, form)));
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Beside others in base64, a text begins with any of three characters, and the first and last are mixed.
  const shifted = ['', '-', '--'].map((before) => {
    const text = Buffer.from(`${before}${secret}`).toString('base64');
    return text.slice(
      before.length === 0 ? 0 : before.length + 1,
      Math.floor(((before.length + bytes.length) * 8) / 6),
    );
  });
  const longEnough = shifted.filter((form) => form.length >= 5);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('hex'),
    ...longEnough,
    ...longEnough.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

/** Whether a text has another one as a word: `1250` is not in `17951250`. */
function holds(text: string, word: string): boolean {
  if (word.length > 12) return text.includes(word);
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const around = `${text[at - 1] ?? ''}${text[at + word.length] ?? ''}`;
    if (!/[\w.]/.test(around)) return true;
  }
  return false;
}
