import fc from 'fast-check';
import { createReceiver, SignatureError } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { fakeTimers } from '../support/fake-time.ts';
import { type Headers, type Scheme, schemes } from './schemes.ts';
import { bodyAt } from './signature-cases.ts';

const NOW = 1_790_000_000;
const body = Buffer.from(bodyAt(NOW));

const texts = ['', '-', '+', ' ', '0', '.5', 'e1', '=', 'x', '\t'];
const timeText = fc
  .tuple(fc.constantFrom(...texts), fc.integer({ min: -310, max: 310 }), fc.constantFrom(...texts))
  .map(([before, offset, after]) => `${before}${NOW + offset}${after}`);

/** What the receiver says of a signature; an error of another kind fails the test. */
async function accepts({ provider, keys }: Scheme, headers: Headers): Promise<boolean> {
  const receiver = createReceiver({ provider, signingKey: keys[0] }).observe(() => {});
  try {
    await receiver.verify(body, headers);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(SignatureError);
    return false;
  }
}

/** The number that both packages read. */
const numberOf = (text: string): number => Number.parseInt(text, 10);

const edits = fc.array(
  fc.record({
    at: fc.nat({ max: 400 }),
    removed: fc.constantFrom(0, 0, 1, 2),
    inserted: fc.constantFrom('', ',', ' ', '=', 'v1', 't', '0', 'A', '/', ',v1='),
  }),
  { maxLength: 2 },
);

type Edit = { readonly at: number; readonly removed: number; readonly inserted: string };

const edited = (text: string, list: readonly Edit[]): string =>
  list.reduce((rest, { at, removed, inserted }) => {
    const from = rest.length === 0 ? 0 : at % rest.length;
    return rest.slice(0, from) + inserted + rest.slice(from + removed);
  }, text);

const schemeOf = (name: string): Scheme => {
  const scheme = schemes.find((each) => each.name === name);
  if (scheme === undefined) throw new Error(name);
  return scheme;
};

/** How many headers were accepted: a property of refusals alone would prove little. */
const RUNS = 600;
const least = RUNS / 20;

const run = { numRuns: RUNS };

describe("mutated headers get the same verdict as from the sender's package:", () => {
  test('Stripe', async () => {
    fakeTimers({ toFake: ['Date'], now: NOW * 1_000 });
    const scheme = schemeOf('Stripe');
    let accepted = 0;
    const item = fc.constantFrom('right', 'right', 'wrong', 'upper', 'junk', 'v0', 'empty', 'other');
    await fc.assert(
      fc.asyncProperty(
        fc.array(timeText, { maxLength: 2 }),
        fc.array(item, { maxLength: 4 }),
        edits,
        async (times, items, list) => {
          const time = numberOf(times.at(-1) ?? '');
          const signed = (key: string): string =>
            scheme.sign(body, key, time)['stripe-signature']?.replace(/^.*v1=/, '') ?? '';
          const right = time > 0 ? signed(scheme.keys[0]) : '00';
          const forms: Readonly<Record<string, string>> = {
            right: `v1=${right}`,
            wrong: `v1=${'0'.repeat(64)}`,
            upper: `v1=${right.toUpperCase()}`,
            junk: `v1=${right}=junk`,
            v0: `v0=${right}`,
            empty: 'v1=',
            other: 'x',
          };
          const parts = [...times.map((text) => `t=${text}`), ...items.map((each) => forms[each] ?? '')];
          const value = edited(parts.join(','), list);
          const ours = await accepts(scheme, { 'stripe-signature': value });
          accepted += Number(ours);
          // Its package compares texts, and accepts any time ahead.
          const lower = value.replaceAll(/(?<=v1=)[0-9a-f]{64}(?![0-9a-f])/gi, (hex) => hex.toLowerCase());
          const read = numberOf(
            value
              .split(',')
              .findLast((each) => each.startsWith('t='))
              ?.slice(2) ?? '',
          );
          const theirs =
            (await scheme.accepts?.(body, { 'stripe-signature': lower }, scheme.keys[0])) === true;
          expect(ours).toBe(theirs && read <= NOW + 300);
        },
      ),
      run,
    );
    expect(accepted).toBeGreaterThan(least);
    expect(accepted).toBeLessThan(RUNS - least);
  });

  test('Standard Webhooks', async () => {
    fakeTimers({ toFake: ['Date'], now: NOW * 1_000 });
    const scheme = schemeOf('Standard Webhooks');
    let accepted = 0;
    const item = fc.constantFrom('right', 'right', 'wrong', 'bare', 'junk', 'v1a', 'joined', 'unpadded');
    await fc.assert(
      fc.asyncProperty(
        timeText,
        fc.array(item, { maxLength: 4 }),
        edits,
        edits,
        async (text, items, list, ofTime) => {
          const headers = scheme.sign(body, scheme.keys[0], numberOf(text.trim()) || 0);
          const right = headers['webhook-signature'] ?? '';
          const forms: Readonly<Record<string, string>> = {
            right,
            wrong: `v1,${'A'.repeat(43)}=`,
            bare: 'v1',
            junk: `${right},junk`,
            v1a: right.replace('v1', 'v1a'),
            joined: `${right}, ${right}`,
            unpadded: right.replace('=', ''),
          };
          const value = edited(items.map((each) => forms[each] ?? '').join(' '), list);
          const sent = {
            ...headers,
            'webhook-signature': value,
            'webhook-timestamp': edited(text, ofTime.slice(1)),
          };
          const ours = await accepts(scheme, sent);
          accepted += Number(ours);
          expect(ours).toBe(await scheme.accepts?.(body, sent, scheme.keys[0]));
        },
      ),
      run,
    );
    expect(accepted).toBeGreaterThan(least);
    expect(accepted).toBeLessThan(RUNS - least);
  });

  test('GitHub', async () => {
    const scheme = schemeOf('GitHub');
    const headers = scheme.sign(body, scheme.keys[0], NOW);
    const right = headers[scheme.header] ?? '';
    const forms = [
      right,
      right,
      right.toUpperCase(),
      right.slice(7),
      `sha1=${right.slice(7)}`,
      `${right},`,
      '',
    ];
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...forms), edits, async (form, list) => {
        const value = edited(form, list);
        const ours = await accepts(scheme, { ...headers, [scheme.header]: value });
        accepted += Number(ours);
        // Its package compares texts.
        const lower = value.replace(/(?<=^sha256=)[0-9a-f]{64}$/i, (hex) => hex.toLowerCase());
        expect(ours).toBe(await scheme.accepts?.(body, { [scheme.header]: lower }, scheme.keys[0]));
      }),
      run,
    );
    expect(accepted).toBeGreaterThan(least);
    expect(accepted).toBeLessThan(RUNS - least);
  });

  test('Shopify', async () => {
    const scheme = schemeOf('Shopify');
    const headers = scheme.sign(body, scheme.keys[0], NOW);
    const right = headers[scheme.header] ?? '';
    const forms = [right, right, right.toLowerCase(), right.slice(0, -1), `${right}, ${right}`, ''];
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...forms), edits, async (form, list) => {
        const sent = { ...headers, [scheme.header]: edited(form, list) };
        const ours = await accepts(scheme, sent);
        accepted += Number(ours);
        expect(ours).toBe(await scheme.accepts?.(body, sent, scheme.keys[0]));
      }),
      run,
    );
    expect(accepted).toBeGreaterThan(least);
    expect(accepted).toBeLessThan(RUNS - least);
  });

  test('Slack', async () => {
    fakeTimers({ toFake: ['Date'], now: NOW * 1_000 });
    const scheme = schemeOf('Slack');
    let accepted = 0;
    const item = fc.constantFrom('right', 'right', 'upper', 'junk', 'v1', 'bare');
    const time = fc.oneof(fc.constant(String(NOW)), timeText);
    await fc.assert(
      fc.asyncProperty(time, item, edits, async (text, form, list) => {
        const headers = scheme.sign(body, scheme.keys[0], Number(text) || 0);
        const right = headers[scheme.header] ?? '';
        const forms: Readonly<Record<string, string>> = {
          right,
          upper: right.replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase()),
          junk: `${right}=junk`,
          v1: right.replace('v0', 'v1'),
          bare: right.slice(3),
        };
        const value = edited(forms[form] ?? '', list);
        const sent = { [scheme.header]: value, 'x-slack-request-timestamp': text };
        const ours = await accepts(scheme, sent);
        accepted += Number(ours);
        // Its package compares texts, and accepts any time ahead.
        const lower = value.replace(/(?<=^v0=)[0-9a-f]{64}(?![^=])/i, (hex) => hex.toLowerCase());
        const theirs = await scheme.accepts?.(body, { ...sent, [scheme.header]: lower }, scheme.keys[0]);
        expect(ours).toBe(theirs === true && Number(text) <= NOW + 300);
      }),
      run,
    );
    expect(accepted).toBeGreaterThan(least);
    expect(accepted).toBeLessThan(RUNS - least);
  });
});
