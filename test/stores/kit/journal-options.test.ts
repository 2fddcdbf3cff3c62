import { describe, expect, test } from 'vitest';
import { silentStores } from './silent-stores.ts';

const journals = silentStores.flatMap(({ listed, createJournal }) =>
  createJournal === undefined ? [] : [{ name: listed.journal, createJournal }],
);

const wrong: readonly (readonly [options: object, message: RegExp])[] = [
  [{}, /^scope of create\w+Journal /],
  [{ scope: 'a b' }, /^scope of create\w+Journal .*"a b"/],
  [{ scope: 'a', bodies: 'no' }, /^bodies must be true or false, got "no"/],
  [{ scope: 'a', bodies: null }, /^bodies must be true or false, got null/],
  [{ scope: 'a', retentionMs: 0 }, /^retentionMs must be a whole number from 1 to .*, got 0/],
  [{ scope: 'a', retentionMs: Number.POSITIVE_INFINITY }, /^retentionMs must be a whole number/],
  [{ scope: 'a', retentionMs: null }, /^retentionMs must be a whole number .*null/],
  [{ scope: 'a', keep: 1 }, /"?keep"?.*scope, bodies, retentionMs, commandTimeoutMs/],
];

describe.each(journals)('$name', ({ createJournal }) => {
  test.each(wrong)('refuses %o, and says what is allowed', (options, message) => {
    expect(() => createJournal(options)).toThrow(
      expect.objectContaining({ code: 'configuration_invalid', message: expect.stringMatching(message) }),
    );
  });

  test('takes undefined for an option that is left out', () => {
    const { bodies } = createJournal({ scope: 'a', bodies: undefined, retentionMs: undefined });
    expect(bodies).toBe(true);
  });
});
