import fc from 'fast-check';
import {
  type Authentication,
  ConfigurationError,
  CredentialsError,
  createMemoryStore,
  createReceiver,
} from 'posthorn';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../support/any-character.ts';
import { KEY, post, serve } from '../../support/served.ts';

const body = JSON.stringify(createEvent('transfer.succeeded'));
const signed = signedHeaders(body, { key: KEY });

const basic = (username: string, password: string): Authentication => ({
  type: 'BASIC',
  basic: { username, password },
});
const bearer = (token: string): Authentication => ({ type: 'BEARER', bearer: { token } });
const aladdin = basic('Aladdin', 'open sesame');
const aladdinHeader = 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==';
const token = bearer('mF_9.B5f-4.1JqM');

// Shared, because making one for each value would take most of the time.
const store = createMemoryStore();

/** True if let in, false if refused by a CredentialsError; any other error fails the test. */
async function admits(
  authentication: Authentication | readonly Authentication[],
  authorization?: string | readonly string[],
): Promise<boolean> {
  const receiver = createReceiver({ signingKey: KEY, authentication, store });
  try {
    await receiver.verify(body, { ...signed, authorization });
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(CredentialsError);
    expect(error).toMatchObject({ code: 'credentials_invalid' });
    return false;
  }
}

describe('the examples of the RFCs', () => {
  test('RFC 7617, section 2: Aladdin', async () => {
    expect(await admits(aladdin, aladdinHeader)).toBe(true);
  });

  test('RFC 7617, section 2.1: a pound sign in UTF-8', async () => {
    expect(await admits(basic('test', '123£'), 'Basic dGVzdDoxMjPCow==')).toBe(true);
    expect(await admits(basic('test', '123£'), 'Basic dGVzdDoxMjOj'), 'the same in Latin-1').toBe(false);
  });

  test('RFC 6750, section 2.1', async () => {
    expect(await admits(token, 'Bearer mF_9.B5f-4.1JqM')).toBe(true);
  });

  test('RFC 7235: the scheme in any case, and one or more spaces', async () => {
    for (const scheme of ['basic', 'BASIC', 'bAsIc ']) {
      expect(await admits(aladdin, aladdinHeader.replace('Basic', scheme)), scheme).toBe(true);
    }
    for (const scheme of ['bearer', 'BEARER', 'bEaReR ']) {
      expect(await admits(token, `${scheme} mF_9.B5f-4.1JqM`), scheme).toBe(true);
    }
  });
});

describe('who gets in', () => {
  test('a password may hold colons; the user-id ends at the first', async () => {
    const header = `Basic ${Buffer.from('a:b:c').toString('base64')}`;
    expect(await admits(basic('a', 'b:c'), header)).toBe(true);
  });

  test('nobody without a header, with another scheme, or with a part of the credentials', async () => {
    const encode = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    const wrong = ['', 'Basic', 'Basic ', 'Bearer', 'QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'Negotiate abc'].concat(
      ['Aladdin:', ':open sesame', 'Aladdin', 'aladdin:open sesame', 'Aladdin:open sesam'].map(encode),
      ['Aladdin:open sesame ', 'Aladdin:open sesame\u0000', 'Aladdin::open sesame'].map(encode),
      [`${aladdinHeader}, ${aladdinHeader}`, `${aladdinHeader} x`, aladdinHeader.replace('Basic', 'Bearer')],
    );
    expect(await admits(aladdin)).toBe(false);
    for (const value of wrong) expect(await admits(aladdin, value), value).toBe(false);
    const wrongTokens = ['Bearer mF_9.B5f-4.1JqN', 'Bearer mf_9.b5f-4.1jqm', 'Basic mF_9.B5f-4.1JqM'];
    for (const value of wrongTokens) expect(await admits(token, value), value).toBe(false);
  });

  const encoded = 'dXNlcjpwYXNz'; // user:pass, of a length that needs no padding
  const junk = [
    `${encoded} junk`,
    `${encoded}junk`,
    `${encoded}, junk`,
    `${encoded};junk`,
    `${encoded} ${encoded}`,
    `${encoded}=`,
    `${encoded}==`,
    `${encoded}====`,
    `${encoded}=junk`,
    `${encoded}!`,
    `${encoded}\t`,
    `${encoded} `,
    `=${encoded}`,
    `dXNl=cjpwYXNz`,
    `dXNl-cjpwYXNz`,
  ];
  test.each(junk)('nobody with Basic credentials that have junk: %j', async (credentials) => {
    const user = basic('user', 'pass');
    for (const scheme of ['Basic', 'basic']) {
      expect(await admits(user, `${scheme} ${encoded}`)).toBe(true);
      expect(await admits(user, `${scheme} ${credentials}`)).toBe(false);
    }
  });

  test.each(['', '=', '===', '====', '==A', '== ', '\n=='])(
    'nobody with the right Basic credentials and the wrong padding: %j',
    async (padding) => {
      const [unpadded] = aladdinHeader.split('==');
      expect(await admits(aladdin, `${unpadded}${padding}`)).toBe(false);
      expect(await admits(aladdin, `${unpadded}==`)).toBe(true);
    },
  );

  test('nobody with base64 whose last digit has other spare bits: it is not what an encoder writes', async () => {
    expect(Buffer.from('QQ==', 'base64')).toEqual(Buffer.from('QR==', 'base64'));
    expect(await admits(aladdin, aladdinHeader.replace('Q==', 'R=='))).toBe(false);
  });

  test('several at once: any of them, and no mixture', async () => {
    const accepted = [aladdin, basic('Aladdin', 'new'), token];
    expect(await admits(accepted, aladdinHeader)).toBe(true);
    expect(await admits(accepted, `Basic ${Buffer.from('Aladdin:new').toString('base64')}`)).toBe(true);
    expect(await admits(accepted, 'Bearer mF_9.B5f-4.1JqM')).toBe(true);
    expect(await admits(accepted, `Basic ${Buffer.from('mF_9.B5f-4.1JqM').toString('base64')}`)).toBe(false);
    expect(await admits(accepted, 'Bearer Aladdin:new')).toBe(false);
    expect(await admits(accepted)).toBe(false);
  });

  test('everybody under NONE, which is the default', async () => {
    expect(await admits({ type: 'NONE' })).toBe(true);
    expect(await admits({ type: 'NONE' }, aladdinHeader)).toBe(true);
    const receiver = createReceiver({ signingKey: KEY });
    await expect(receiver.verify(body, signed)).resolves.toMatchObject({ type: 'transfer.succeeded' });
  });

  test('nobody whose right credentials were sent twice', async () => {
    expect(await admits(aladdin, [aladdinHeader, aladdinHeader])).toBe(false);
    const receiver = createReceiver({ signingKey: KEY, authentication: aladdin }).on('*', () => {});
    receiver.observe(() => {});
    const url = await serve(receiver);
    const once = await post(url, body, { ...signed, authorization: aladdinHeader });
    const twice = await post(url, body, { ...signed, authorization: [aladdinHeader, aladdinHeader] });
    expect([once.status, twice.status]).toEqual([200, 401]);
  });
});

describe('any value of the header', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 40 });
  const scheme = fc.constantFrom('Basic', 'basic', 'Bearer', 'Digest', '');
  const encoded = text.map((plain) => Buffer.from(plain).toString('base64'));
  const changed = fc
    .tuple(fc.nat({ max: aladdinHeader.length }), fc.constantFrom('', ' ', '=', 'A', '\t', ','), fc.boolean())
    .map(
      ([at, insert, drop]) => aladdinHeader.slice(0, at) + insert + aladdinHeader.slice(drop ? at + 1 : at),
    );
  const value = fc.oneof(
    text,
    fc.tuple(scheme, fc.oneof(text, encoded)).map((parts) => parts.join(' ')),
    changed,
  );

  test('lets in the right credentials only, and gives no error but CredentialsError', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (value) => {
        if (!(await admits(aladdin, value))) return;
        const [, credentials] = /^basic +(\S+)$/i.exec(value) ?? [];
        expect(Buffer.from(credentials ?? '', 'base64').toString('latin1')).toBe('Aladdin:open sesame');
      }),
      { numRuns: 500 },
    );
  });

  test('every user-id and password, and every token, is let in by what the service would send', async () => {
    const visible = anyCharacter.filter((character) => !/\p{Cc}/u.test(character));
    const printable = fc.string({ unit: visible, minLength: 1, maxLength: 20 });
    const username = printable.filter((name) => !name.includes(':'));
    const ascii = fc.string({ unit: 'grapheme-ascii', minLength: 1 }).filter((text) => !text.includes(' '));
    const sent = (authentication: Authentication): string | undefined =>
      signedHeaders(body, { key: KEY, authentication }).authorization;
    await fc.assert(
      fc.asyncProperty(username, printable, ascii, async (username, password, token) => {
        expect(await admits(basic(username, password), sent(basic(username, password)))).toBe(true);
        expect(await admits(bearer(token), sent(bearer(token)))).toBe(true);
        expect(await admits(basic(username, `${password}x`), sent(basic(username, password)))).toBe(false);
        expect(await admits(bearer(`${token}x`), sent(bearer(token)))).toBe(false);
      }),
    );
  });
});

describe('a 401', () => {
  const BASIC = 'Basic realm="[^"]+", charset="UTF-8"';
  const BEARER = 'Bearer realm="[^"]+"';
  const challenges = [
    { name: 'BASIC', authentication: aladdin, challenge: BASIC },
    { name: 'BEARER', authentication: token, challenge: BEARER },
    { name: 'both', authentication: [aladdin, token], challenge: `${BASIC}, ${BEARER}` },
    { name: 'both, the other way', authentication: [token, aladdin], challenge: `${BEARER}, ${BASIC}` },
    { name: 'two of BASIC', authentication: [aladdin, basic('a', 'b')], challenge: BASIC },
    { name: 'two of BEARER', authentication: [token, bearer('other')], challenge: BEARER },
  ];

  test.each(challenges)('challenges for $name', async ({ authentication, challenge }) => {
    const receiver = createReceiver({ signingKey: KEY, authentication }).on('*', () => {});
    receiver.observe(() => {});
    const response = await deliver(await serve(receiver), body, { key: KEY });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(new RegExp(`^${challenge}$`));
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ status: 401, code: 'credentials_invalid' });
  });

  test('does not tell which part was wrong, neither in the answer nor in the report', async () => {
    const messages = new Set<string | undefined>();
    const receiver = createReceiver({ signingKey: KEY, authentication: aladdin }).on('*', () => {});
    receiver.observe(({ error }) => messages.add(error?.message));
    const url = await serve(receiver);
    const wrong = [basic('Aladdin', 'x'), basic('x', 'open sesame'), token, { type: 'NONE' } as const];
    const answers = new Set<string>();
    for (const authentication of wrong) {
      const response = await deliver(url, body, { key: KEY, authentication });
      expect(response.status).toBe(401);
      answers.add(await response.text());
    }
    expect(answers.size).toBe(1);
    expect(messages.size).toBe(1);
    for (const text of [...answers, ...messages]) expect(text).not.toMatch(/aladdin|sesame|mF_9/i);
  });

  test('comes before the signature is looked at', async () => {
    const receiver = createReceiver({ signingKey: KEY, authentication: aladdin }).on('*', () => {});
    receiver.observe(() => {});
    const { status } = await post(await serve(receiver), body, { 'x-service-signature': 'wrong' });
    expect(status).toBe(401);
  });
});

describe('wrong configurations throw', () => {
  const wrong: readonly { name: string; authentication: unknown }[] = [
    { name: 'null', authentication: null },
    { name: 'an empty list', authentication: [] },
    { name: 'a list with nothing in it', authentication: [undefined] },
    { name: 'text', authentication: 'NONE' },
    { name: 'no type', authentication: {} },
    { name: 'an unknown type', authentication: { type: 'DIGEST' } },
    {
      name: 'a type in lower case',
      authentication: { type: 'basic', basic: { username: 'a', password: 'b' } },
    },
    { name: 'BASIC without basic', authentication: { type: 'BASIC' } },
    { name: 'BASIC with null', authentication: { type: 'BASIC', basic: null } },
    { name: 'no username', authentication: { type: 'BASIC', basic: { password: 'b' } } },
    { name: 'no password', authentication: { type: 'BASIC', basic: { username: 'a' } } },
    { name: 'an empty password', authentication: basic('a', '') },
    { name: 'a colon in the username', authentication: basic('a:b', 'c') },
    { name: 'a control character in the username', authentication: basic('a\n', 'c') },
    { name: 'a control character in the password', authentication: basic('a', 'c\u007f') },
    {
      name: 'a password that is a number',
      authentication: { type: 'BASIC', basic: { username: 'a', password: 1 } },
    },
    { name: 'BEARER without bearer', authentication: { type: 'BEARER' } },
    { name: 'an empty token', authentication: bearer('') },
    { name: 'a space in the token', authentication: bearer('a b') },
    { name: 'a line feed in the token', authentication: bearer('a\n') },
    { name: 'one wrong entry among right ones', authentication: [aladdin, basic('a', '')] },
  ];

  test.each(wrong)('$name', ({ authentication }) => {
    const create = (): unknown =>
      Reflect.apply(createReceiver, undefined, [{ signingKey: KEY, authentication }]);
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(/authentication/);
  });
});
