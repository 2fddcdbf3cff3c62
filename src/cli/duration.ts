const UNITS_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;

/** Reads a duration such as `30s`, `2h` or `20m59s` as milliseconds; undefined for any other text. */
export function readDuration(text: string): number | undefined {
  const [found, d = 0, h = 0, m = 0, s = 0] =
    /^(?=\d)(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$/.exec(text) ?? [];
  if (found === undefined) return undefined;
  return Number(d) * UNITS_MS.d + Number(h) * UNITS_MS.h + Number(m) * UNITS_MS.m + Number(s) * UNITS_MS.s;
}

/** Writes a duration in its two largest units, rounded to a second: `45 s`, `5 min 50 s`, `2 h`. */
export function describeDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  const parts = [
    { count: Math.floor(seconds / 86_400), unit: 'd' },
    { count: Math.floor(seconds / 3_600) % 24, unit: 'h' },
    { count: Math.floor(seconds / 60) % 60, unit: 'min' },
    { count: seconds % 60, unit: 's' },
  ];
  const first = parts.findIndex(({ count }) => count > 0);
  const largest = first === -1 ? parts.slice(-1) : parts.slice(first, first + 2);
  return largest
    .filter(({ count }, index) => index === 0 || count > 0)
    .map(({ count, unit }) => `${count} ${unit}`)
    .join(' ');
}
