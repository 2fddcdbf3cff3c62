import assert from 'node:assert/strict';
import { inspect, isDeepStrictEqual } from 'node:util';
import { messageOf, propertyOf, shorten, show } from '../../receiver/values/foreign-values.ts';
import { AnswerBody } from '../../service/shapes/answer-body.ts';
import { HANDLER_MESSAGE, KEY, PASSWORD, TOKEN, USERNAME } from './delivery.ts';

/** An answer as any client sees it. */
export interface Seen {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Reads the answer of a request whole. Rejects if the connection ends before. */
export async function seen(answer: Promise<Response>): Promise<Seen> {
  try {
    const response = await answer;
    const body = new AnswerBody();
    await body.read(response);
    return { status: response.status, headers: new Map(response.headers), body: body.text() };
  } catch (error) {
    const cause = propertyOf(error, 'cause') ?? error;
    assert.fail(`the delivery got no whole answer: ${messageOf(cause)}`);
  }
}

/** Throws, with `what` in front of both values, unless they are equal. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new assert.AssertionError({
    message: `${what} must be ${inspected(expected)}, got ${inspected(actual)}`,
    actual,
    expected,
  });
}

function inspected(value: unknown): string {
  return shorten(inspect(value, { depth: 4, breakLength: Number.POSITIVE_INFINITY }), 500);
}

/** Expects some members of a value. It may have others. */
export function expectMembers(actual: object, expected: object, what: string): void {
  const picked = Object.fromEntries(Object.keys(expected).map((name) => [name, propertyOf(actual, name)]));
  expectEqual(picked, expected, what);
}

export function expectAccepted(answer: Seen, outcome: string, id: string): void {
  const { status, body } = answer;
  expectEqual({ status, body }, { status: 200, body: JSON.stringify({ outcome, id }) }, 'the answer');
  expectEqual(answer.headers.get('content-type'), 'application/json', 'the header content-type');
}

/** Texts that no answer may hold. */
const SECRETS: Readonly<Record<string, string>> = {
  'the signing key': KEY,
  'the user name': USERNAME,
  'the password': PASSWORD,
  'the bearer token': TOKEN,
  'the message of an error': HANDLER_MESSAGE,
};

/** Expects an answer of RFC 9457 with the three members of the contract, and nothing else. */
export function expectProblem(answer: Seen, status: number, code: string | readonly string[]): void {
  const text = [answer.body, ...answer.headers.values()].join('\n');
  for (const [name, secret] of Object.entries(SECRETS)) {
    assert.ok(!text.includes(secret), `the answer tells ${name}: send the body of the reply, and no other`);
  }
  const codes = [code].flat();
  const shown = `the answer must be ${status} ${codes.join(' or ')}; it is ${answer.status} ${show(answer.body)}`;
  assert.ok(answer.status === status, shown);
  const problem = parsed(answer.body);
  const found = propertyOf(problem, 'code');
  assert.ok(typeof found === 'string' && codes.includes(found), shown);
  const title = propertyOf(problem, 'title');
  assert.ok(typeof title === 'string' && /\w/.test(title), `${shown}, without a title`);
  expectEqual(problem, { title, status, code: found }, 'the body of the answer');
  expectEqual(
    answer.headers.get('content-type'),
    'application/problem+json',
    `the header content-type of ${status}`,
  );
  expectHeadersOf(status, answer.headers);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    assert.fail(`the body of the answer must be JSON, got ${show(body)}`);
  }
}

/** The headers of which each belongs to one status. */
function expectHeadersOf(status: number, headers: Seen['headers']): void {
  const allow = status === 405 ? 'POST' : undefined;
  const acceptEncoding = status === 415 ? 'identity' : undefined;
  expectEqual(headers.get('allow'), allow, `the header allow of ${status}`);
  expectEqual(headers.get('accept-encoding'), acceptEncoding, `the header accept-encoding of ${status}`);
  for (const [name, its] of Object.entries({ 'www-authenticate': 401, 'retry-after': 503 })) {
    const must = status === its ? 'must be sent' : 'must not be sent';
    assert.ok(headers.has(name) === (status === its), `the header ${name} ${must} with ${status}`);
  }
  if (status !== 503) return;
  const retryAfter = headers.get('retry-after') ?? '';
  assert.match(
    retryAfter,
    /^[1-9]\d*$/,
    `the header retry-after must be in seconds, got ${show(retryAfter)}`,
  );
}
