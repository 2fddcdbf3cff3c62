import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FxQuotes } from '../../../src/service/sandbox/fx-quotes.ts';
import { rates } from '../../../src/service/sandbox/rates.ts';
import { RefusedError } from '../../../src/service/sandbox/refused-error.ts';
import { openState } from '../../../src/service/sandbox/state.ts';
import type { FxQuoteBody } from '../../../src/service/shapes/fx-quotes.ts';
import { START_AT } from './opened-sandbox.ts';

/** Hundredths, as long as a number of the wire can get. */
const cents = fc.oneof(fc.bigInt({ min: 1n, max: 10n ** 6n }), fc.bigInt({ min: 1n, max: 10n ** 20n }));
const currency = fc.constantFrom(...rates.map((rate) => rate.currency));

function decimalOf(hundredths: bigint): string {
  const digits = hundredths.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The digits of a decimal number as one integer, so that nothing here is a float. */
function integerOf(decimal: string, places: number): bigint {
  expect(decimal).toMatch(new RegExp(`^\\d+\\.\\d{${places}}$`));
  return BigInt(decimal.replace('.', ''));
}

const quotes = new FxQuotes(openState(undefined, 1, START_AT), 'ann');

/** Undefined for an amount that is refused because its other side would be 0.00. */
function quote(request: object): FxQuoteBody | undefined {
  try {
    return quotes.create(request);
  } catch (error) {
    if (error instanceof RefusedError && error.status === 400) return undefined;
    throw error;
  }
}

/** Half up, as is usual for amounts that are above 0. */
function divideHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}

const MILLION = 1_000_000n;

test('source.amount × fxRate, rounded half up to two places, is destination.amount', () => {
  fc.assert(
    fc.property(currency, cents, (code, given) => {
      const amount = decimalOf(given);
      const answer = quote({ destination: { currency: code }, source: { amount } });
      if (answer === undefined) return given < 100n;
      expect(answer.source.amount).toBe(amount);
      const expected = divideHalfUp(given * integerOf(answer.fxRate, 6), MILLION);
      return integerOf(answer.destination.amount, 2) === expected;
    }),
    { numRuns: 1_000 },
  );
});

test('destination.amount ÷ fxRate, rounded half up to two places, is source.amount', () => {
  fc.assert(
    fc.property(currency, cents, (code, given) => {
      const amount = decimalOf(given);
      const answer = quote({ destination: { currency: code, amount } });
      // Refused only where the quotient is below half a cent: 1,353 hundredths at the highest rate.
      if (answer === undefined) return given < 1_353n;
      expect(answer.destination.amount).toBe(amount);
      const expected = divideHalfUp(given * MILLION, integerOf(answer.fxRate, 6));
      return integerOf(answer.source.amount, 2) === expected;
    }),
    { numRuns: 1_000 },
  );
});
