import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPostgresJson, toPostgresJson, toPostgresText } from '../../../src/queues/bullmq/stored-data.ts';
import { createJob } from '../../../src/receiver/queue/queued-job.ts';

/** Texts with the characters that PostgreSQL refuses, and with their escapes, which it accepts. */
const text = fc
  .array(
    fc.constantFrom('\u0000', '\ud800', '\udbff', '\udc00', '\udfff', '\\', 'u0000', 'ud800', '"', 'é', '🙂'),
  )
  .map((parts) => parts.join(''));
const ordinary = {
  id: 'evt_1',
  type: 'transfer.succeeded',
  rawBody: Buffer.from([0, 1, 0xd8, 0, 0xff]),
  headers: { 'x-note': ['é🙂\n'] },
  receivedAt: 1,
  queuedAt: 2,
  handled: [],
  handlers: ['book'],
  isParked: false,
};
const job = fc
  .record({ id: text, type: text, headers: fc.dictionary(text, fc.array(text)), handlers: fc.array(text) })
  .map((members) => createJob({ ...ordinary, ...members }));

/** Returns true for a text that PostgreSQL accepts. */
const isAccepted = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

/** All texts of a value of JSON, its keys too. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)]);
}

describe('a job for PostgreSQL', () => {
  test('has only accepted characters, and is read as it was', () => {
    fc.assert(
      fc.property(job, (given) => {
        const stored: unknown = JSON.parse(JSON.stringify(toPostgresJson(given)));
        expect(textsOf(stored).filter((one) => !isAccepted(one))).toEqual([]);
        expect(readPostgresJson(stored)).toEqual(JSON.parse(JSON.stringify(given)));
      }),
    );
  });

  test('is stored as it is if its characters are accepted', () => {
    const accepted = createJob(ordinary);
    expect(toPostgresJson(accepted)).toEqual(accepted.toJSON());
  });

  test.each([undefined, null, 'text', 7, [], {}, { base64: 7 }, { base64: '' }, { base64: 'bm8gSlNPTg==' }])(
    'is %j in the queue: it is handed over as it is',
    (data) => {
      expect(readPostgresJson(data)).toBe(data);
    },
  );
});

test('a text for PostgreSQL has its refused characters replaced, and nothing else', () => {
  fc.assert(
    fc.property(text, (given) => {
      const accepted = toPostgresText(given);
      expect(isAccepted(accepted)).toBe(true);
      expect(accepted).toHaveLength(given.length);
      if (isAccepted(given)) expect(accepted).toBe(given);
    }),
  );
});
