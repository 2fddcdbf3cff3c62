import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatTimestamp, parseTimestamp, timestamp } from '../../../src/service/shapes/timestamp.ts';

describe('a timestamp', () => {
  test.each([
    ['03/31/2026 09:05:00', '2026-03-31T09:05:00Z'],
    ['12/31/1999 23:59:59', '1999-12-31T23:59:59Z'],
    ['01/01/1970 00:00:00', '1970-01-01T00:00:00Z'],
    ['02/29/2024 12:00:00', '2024-02-29T12:00:00Z'],
    ['02/29/2000 00:00:01', '2000-02-29T00:00:01Z'],
    ['01/01/0001 00:00:00', '0001-01-01T00:00:00Z'],
    ['12/31/9999 23:59:59', '9999-12-31T23:59:59Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseTimestamp(text)).toBe(Date.parse(iso));
    expect(formatTimestamp(Date.parse(iso))).toBe(text);
    expect(timestamp.parse(text)).toBe(text);
  });

  test.each([
    '02/30/2026 00:00:00',
    '02/29/2026 00:00:00',
    '02/29/1900 00:00:00',
    '04/31/2026 00:00:00',
    '00/10/2026 00:00:00',
    '13/10/2026 00:00:00',
    '10/00/2026 00:00:00',
    '10/32/2026 00:00:00',
    '10/10/2026 24:00:00',
    '10/10/2026 23:60:00',
    '10/10/2026 23:59:60',
    '3/31/2026 09:05:00',
    '03/31/26 09:05:00',
    '03/31/2026 9:05:00',
    '03/31/2026 09:05',
    '03/31/2026T09:05:00',
    '03/31/2026 09:05:00Z',
    '03/31/2026 09:05:00.000',
    ' 03/31/2026 09:05:00',
    '03/31/2026 09:05:00\n',
    '03-31-2026 09:05:00',
    '2026-03-31T09:05:00Z',
    '٠٣/٣١/٢٠٢٦ ٠٩:٠٥:٠٠',
    '',
  ])('%j is none', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
    expect(timestamp.safeParse(text).success).toBe(false);
  });

  test('cuts off parts of a second', () => {
    expect(formatTimestamp(Date.parse('2026-03-31T09:05:00.999Z'))).toBe('03/31/2026 09:05:00');
  });

  test('comes back from its text as the same second', () => {
    const anyMs = fc.integer({
      min: Date.parse('0000-01-01T00:00:00Z'),
      max: Date.parse('9999-12-31T23:59:59.999Z'),
    });
    fc.assert(
      fc.property(anyMs, (ms) => {
        const text = formatTimestamp(ms);
        expect(text).toMatch(/^\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d$/);
        expect(parseTimestamp(text)).toBe(Math.floor(ms / 1000) * 1000);
      }),
    );
  });
});
