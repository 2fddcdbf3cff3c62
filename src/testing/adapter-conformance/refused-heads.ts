import assert from 'node:assert/strict';
import { sign } from '../../receiver/authentication/signature.ts';
import { show } from '../../receiver/values/foreign-values.ts';
import { AS_IT_IS, HEADER_NAMES, REPEATED_HEADERS } from './advice.ts';
import { expectAccepted, expectEqual, expectProblem } from './answer.ts';
import { type Check, checksOf, type Group } from './case.ts';
import { BASIC, BEARER, KEY, PASSWORD, signed, TOKEN, transfer, USERNAME } from './delivery.ts';
import { rejects, sendFields, sendWith } from './rejected.ts';

function refuseMethod(method: string): Check {
  return rejects({
    options: { authentication: BASIC },
    status: 405,
    code: 'method_not_allowed',
    send: (to) => to.request({ method, ...(method !== 'GET' && { body: '{}' }) }),
    verify: (_, { event }) => expectEqual(event, undefined, 'the event of the report'),
  });
}

export const refusedMethods: Group = {
  name: '405',
  advice: `${AS_IT_IS} Mount it for every method: the receiver refuses those that are not POST.`,
  checks: {
    ...Object.fromEntries(
      ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => [
        `${method} is told to POST, before it is asked for credentials`,
        refuseMethod(method),
      ]),
    ),
    'HEAD gets the same answer without its body': async (bench) => {
      const endpoint = await bench.open();
      const { status, body, headers } = await endpoint.request({ method: 'HEAD' });
      expectEqual([status, body, headers.get('allow')], [405, '', 'POST'], 'status, body and allow');
    },
  },
};

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const right = { basic: basic(`${USERNAME}:${PASSWORD}`), bearer: `Bearer ${TOKEN}` };
const wrong: Readonly<Record<string, string | undefined>> = {
  'no credentials': undefined,
  'an empty header': '',
  'a wrong password': basic(`${USERNAME}:${PASSWORD}x`),
  'a wrong user': basic(`${USERNAME}x:${PASSWORD}`),
  'a user alone': basic(USERNAME),
  'Basic credentials that are not base64': 'Basic %%%',
  'a scheme alone': 'Basic',
  'a wrong token': `Bearer ${TOKEN}x`,
  'a token under another scheme': `Token ${TOKEN}`,
  'the right token as Basic': `Basic ${TOKEN}`,
  'the right pair as Bearer': `Bearer ${USERNAME}:${PASSWORD}`,
  'both, in one header': `${right.basic}, ${right.bearer}`,
};

function refuseCredentials(authorization: string | undefined): Check {
  return rejects({
    options: { authentication: [BASIC, BEARER] },
    status: 401,
    code: 'credentials_invalid',
    ...(authorization !== undefined && { headers: { authorization } }),
    verify: ({ headers }) =>
      expectEqual(
        headers.get('www-authenticate'),
        'Basic realm="webhooks", charset="UTF-8", Bearer realm="webhooks"',
        'the header www-authenticate',
      ),
  });
}

export const refusedCredentials: Group = {
  name: '401',
  advice: AS_IT_IS,
  checks: {
    ...checksOf(wrong, refuseCredentials),
    'every wrong part is answered in the same words': async (bench) => {
      const endpoint = await bench.open({ options: { authentication: BASIC } });
      const bodies = new Set<string>();
      for (const authorization of Object.values(wrong)) {
        const headers = authorization === undefined ? undefined : { authorization };
        bodies.add((await endpoint.send(transfer(), headers)).body);
      }
      expectEqual(bodies.size, 1, 'the number of different answers');
    },
  },
};

const malformed: Readonly<Record<string, string>> = {
  'a signature that is too short': 'ab'.repeat(31),
  'a signature that is too long': 'ab'.repeat(33),
  'a signature that is not hex': 'xy'.repeat(32),
  'a signature that is with a prefix': `sha256=${'ab'.repeat(32)}`,
  'a signature that is empty': '',
};

const anyBody = JSON.stringify(transfer());

export const refusedSignatures: Group = {
  name: '403',
  advice: AS_IT_IS,
  checks: {
    ...checksOf(malformed, (signature) =>
      rejects({
        status: 403,
        code: 'signature_malformed',
        headers: { 'x-service-signature': signature },
      }),
    ),
    'no signature': rejects({
      status: 403,
      code: 'signature_missing',
      send: (to) => to.request({ method: 'POST', body: anyBody }),
    }),
    'no signature under the header that was configured: the report names the one that was sent': rejects({
      options: { signatureHeader: 'acme-signature' },
      status: 403,
      code: 'signature_missing',
      verify: (answer, { error }) => {
        const told = error?.message ?? '';
        const isNamed = told.includes('"x-service-signature"');
        assert.ok(isNamed, `the report must name what was sent, got ${show(told)}`);
        assert.ok(!answer.body.includes('x-service-signature'), 'the answer must not name the header');
      },
    }),
    'a signature of another key': rejects({
      status: 403,
      code: 'signature_mismatch',
      body: anyBody,
      headers: { 'x-service-signature': sign(anyBody, `${KEY}x`) },
    }),
    'a signature of another body': rejects({
      status: 403,
      code: 'signature_mismatch',
      headers: signed().headers,
      verify: (_, { event }) => expectEqual(event, undefined, 'the event of the report'),
    }),
  },
};

function refuseRepeated(first: string, second: string): Check {
  return rejects({
    options: { authentication: BASIC },
    status: 401,
    code: 'credentials_invalid',
    send: (to, bench) =>
      sendWith(bench, to, () => [
        ['authorization', first],
        ['Authorization', second],
      ]),
  });
}

export const repeatedHeaders: Group = {
  name: 'repeated headers',
  advice: REPEATED_HEADERS,
  checks: {
    'authorization sent twice: the same twice': refuseRepeated(right.basic, right.basic),
    'authorization sent twice: a right one before a wrong one': refuseRepeated(right.basic, 'Basic eA=='),
    'authorization sent twice: a wrong one before a right one': refuseRepeated('Basic eA==', right.basic),
    'the right signature sent twice': (bench) => {
      const { foldsRepeatedHeaders } = bench.platform;
      const check = rejects({
        status: 403,
        code: foldsRepeatedHeaders ? ['signature_repeated', 'signature_malformed'] : 'signature_repeated',
        send: (to) =>
          sendWith(bench, to, ({ headers }) => [
            ['X-Service-Signature', headers['x-service-signature'] ?? ''],
          ]),
      });
      return check(bench);
    },
  },
};

const spellings: Readonly<Record<string, (name: string) => string>> = {
  'in lower case': (name) => name,
  'in upper case': (name) => name.toUpperCase(),
  'with capitals': (name) => name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase()),
};

function spell(write: (name: string) => string): Check {
  return async (bench) => {
    const endpoint = await bench.open({ options: { authentication: BASIC } });
    const event = transfer();
    const delivery = signed(event, BASIC);
    const respelt = Object.entries(delivery.headers).map(([name, value]) => [write(name), value] as const);
    const answer = await sendFields(bench, endpoint, delivery, respelt);
    expectAccepted(answer, 'processed', event.id);
    const encoded = [...respelt, [write('content-encoding'), 'gzip'] as const];
    const refused = await sendFields(bench, endpoint, delivery, encoded);
    expectProblem(refused, 415, 'encoding_unsupported');
  };
}

export const headerNames: Group = {
  name: 'header names',
  advice: HEADER_NAMES,
  checks: checksOf(spellings, spell),
};
