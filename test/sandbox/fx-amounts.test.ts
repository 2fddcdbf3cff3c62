import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BANKING, type Played, PROFILE, play } from './play.ts';

/** Hundredths, as long as a number of the wire can get. */
const cents = fc.oneof(fc.bigInt({ min: 1n, max: 10n ** 6n }), fc.bigInt({ min: 1n, max: 10n ** 20n }));

function decimalOf(hundredths: bigint): string {
  const digits = hundredths.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The digits of a decimal number as one integer, so that nothing here is a float. */
function integerOf(decimal: string, places: number): bigint {
  expect(decimal).toMatch(new RegExp(`^\\d+\\.\\d{${places}}$`));
  return BigInt(decimal.replace('.', ''));
}

interface Quote {
  readonly destination: { readonly amount: string };
  readonly source: { readonly amount: string };
  readonly fxRate: string;
}

async function currencies({ call }: Played): Promise<string[]> {
  const { body } = await call('GET', '/banking/ibans/v2/profile/v2.1/currencies', PROFILE);
  return [...new Set((body as { data: { currencyName: string }[] }).data.map((entry) => entry.currencyName))];
}

/** Undefined for an amount that is refused because its other side would be 0.00. */
async function quote({ call }: Played, body: object): Promise<Quote | undefined> {
  const reply = await call('POST', '/banking/us2/v1/transaction/fxQuote', BANKING, JSON.stringify(body));
  if (reply.status === 400) return undefined;
  expect(reply.status).toBe(200);
  return reply.body as Quote;
}

/** Half up, as is usual for amounts that are above 0. */
function divideHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}

const MILLION = 1_000_000n;

test('source.amount × fxRate, rounded half up to two places, is destination.amount', async () => {
  const played = await play();
  const currency = fc.constantFrom(...(await currencies(played)));
  await fc.assert(
    fc.asyncProperty(currency, cents, async (code, given) => {
      const amount = decimalOf(given);
      const answer = await quote(played, { destination: { currency: code }, source: { amount } });
      const rate = answer === undefined ? undefined : integerOf(answer.fxRate, 6);
      if (answer === undefined || rate === undefined) return given < 100n;
      expect(answer.source.amount).toBe(amount);
      const expected = divideHalfUp(given * rate, MILLION);
      return integerOf(answer.destination.amount, 2) === expected;
    }),
    { numRuns: 300 },
  );
});

test('destination.amount ÷ fxRate, rounded half up to two places, is source.amount', async () => {
  const played = await play();
  const currency = fc.constantFrom(...(await currencies(played)));
  await fc.assert(
    fc.asyncProperty(currency, cents, async (code, given) => {
      const amount = decimalOf(given);
      const answer = await quote(played, { destination: { currency: code, amount } });
      // Refused only where the quotient is below half a cent: 1,353 hundredths at the highest rate.
      if (answer === undefined) return given < 1_353n;
      expect(answer.destination.amount).toBe(amount);
      const expected = divideHalfUp(given * MILLION, integerOf(answer.fxRate, 6));
      return integerOf(answer.source.amount, 2) === expected;
    }),
    { numRuns: 300 },
  );
});
