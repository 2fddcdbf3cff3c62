import assert from 'node:assert/strict';
import { sign } from '../../receiver/authentication/signature.ts';
import { show } from '../../receiver/values/foreign-values.ts';
import { AS_IT_IS, HEADER_NAMES, REPEATED_HEADERS } from './advice.ts';
import { expectAccepted, expectEqual, expectProblem } from './answer.ts';
import type { Check, Group } from './case.ts';
import { BASIC, BEARER, KEY, PASSWORD, signed, TOKEN, transfer, USERNAME } from './delivery.ts';
import { expectRejected, sendFields, sendWith } from './rejected.ts';

function refuseMethod(method: string): Check {
  return async (bench) => {
    const { endpoint } = await expectRejected(bench, {
      options: { authentication: BASIC },
      status: 405,
      code: 'method_not_allowed',
      send: (to) => to.request({ method, ...(method !== 'GET' && { body: '{}' }) }),
    });
    expectEqual(endpoint.reports[0]?.event, undefined, 'the event of the report');
  };
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
  return async (bench) => {
    const { answer } = await expectRejected(bench, {
      options: { authentication: [BASIC, BEARER] },
      status: 401,
      code: 'credentials_invalid',
      send: (to) => to.send(transfer(), authorization === undefined ? {} : { authorization }),
    });
    expectEqual(
      answer.headers.get('www-authenticate'),
      'Basic realm="webhooks", charset="UTF-8", Bearer realm="webhooks"',
      'the header www-authenticate',
    );
  };
}

export const refusedCredentials: Group = {
  name: '401',
  advice: AS_IT_IS,
  checks: {
    ...Object.fromEntries(
      Object.entries(wrong).map(([name, authorization]) => [name, refuseCredentials(authorization)]),
    ),
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

function refuseSignature(signature: string): Check {
  return (bench) =>
    expectRejected(bench, {
      status: 403,
      code: 'signature_malformed',
      send: (to) => to.send(transfer(), { 'x-service-signature': signature }),
    });
}

export const refusedSignatures: Group = {
  name: '403',
  advice: AS_IT_IS,
  checks: {
    'a signature that is too short': refuseSignature('ab'.repeat(31)),
    'a signature that is too long': refuseSignature('ab'.repeat(33)),
    'a signature that is not hex': refuseSignature('xy'.repeat(32)),
    'a signature that is with a prefix': refuseSignature(`sha256=${'ab'.repeat(32)}`),
    'a signature that is empty': refuseSignature(''),
    'no signature': (bench) =>
      expectRejected(bench, {
        status: 403,
        code: 'signature_missing',
        send: (to) => to.request({ method: 'POST', body: JSON.stringify(transfer()) }),
      }),
    'no signature under the header that was configured: the report names the one that was sent': async (
      bench,
    ) => {
      const { answer, endpoint } = await expectRejected(bench, {
        options: { signatureHeader: 'acme-signature' },
        status: 403,
        code: 'signature_missing',
        send: (to) => to.send(transfer()),
      });
      const told = endpoint.reports[0]?.error?.message ?? '';
      assert.ok(
        told.includes('"x-service-signature"'),
        `the report must name what was sent, got ${show(told)}`,
      );
      assert.ok(!answer.body.includes('x-service-signature'), 'the answer must not name the header');
    },
    'a signature of another key': (bench) => {
      const body = JSON.stringify(transfer());
      return expectRejected(bench, {
        status: 403,
        code: 'signature_mismatch',
        send: (to) => to.send(body, { 'x-service-signature': sign(body, `${KEY}x`) }),
      });
    },
    'a signature of another body': async (bench) => {
      const { headers } = signed();
      const { endpoint } = await expectRejected(bench, {
        status: 403,
        code: 'signature_mismatch',
        send: (to) => to.send(transfer(), headers),
      });
      expectEqual(endpoint.reports[0]?.event, undefined, 'the event of the report');
    },
  },
};

function refuseRepeated(first: string, second: string): Check {
  return (bench) =>
    expectRejected(bench, {
      options: { authentication: BASIC },
      status: 401,
      code: 'credentials_invalid',
      send: (to) =>
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
    'the right signature sent twice': (bench) =>
      expectRejected(bench, {
        status: 403,
        code: bench.platform.foldsRepeatedHeaders
          ? ['signature_repeated', 'signature_malformed']
          : 'signature_repeated',
        send: (to) =>
          sendWith(bench, to, ({ headers }) => [
            ['X-Service-Signature', headers['x-service-signature'] ?? ''],
          ]),
      }),
  },
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
  checks: {
    'in lower case': spell((name) => name),
    'in upper case': spell((name) => name.toUpperCase()),
    'with capitals': spell((name) => name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())),
  },
};
