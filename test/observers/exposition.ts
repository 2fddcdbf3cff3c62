/** One line of a scrape. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What one scrape says of a metric. */
export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
};

/**
 * Reads the text format of Prometheus, strictly: each sample stands below the HELP and the TYPE of its
 * metric, no metric and no series comes twice, and buckets add up. Throws for anything else.
 */
export function parseExposition(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>();
  const series = new Set<string>();
  let help: RegExpExecArray | null = null;
  let current = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('# HELP ')) {
      help = matched(/^# HELP (?<name>[a-z_]+) (?<help>\S.*)$/, line);
      continue;
    }
    if (line.startsWith('# TYPE ')) {
      const { name = '', type = '' } = matched(/^# TYPE (?<name>[a-z_]+) (?<type>\w+)$/, line).groups ?? {};
      if (families.has(name) || help?.groups?.name !== name || !(type in SUFFIXES)) throw new Error(line);
      families.set(name, { type, help: help.groups.help ?? '', samples: [] });
      current = name;
      continue;
    }
    const {
      name = '',
      labels = '',
      value = '',
    } = matched(/^(?<name>[a-z_]+)(\{(?<labels>.+)\})? (?<value>\S+)$/, line).groups ?? {};
    const family = families.get(current);
    const isOfFamily = SUFFIXES[family?.type ?? '']?.some((suffix) => name === current + suffix);
    if (family === undefined || !isOfFamily || series.has(`${name}{${labels}}`)) throw new Error(line);
    series.add(`${name}{${labels}}`);
    family.samples.push({ name, labels: readLabels(labels), value: readValue(value) });
  }
  for (const family of families.values()) if (family.type === 'histogram') checkBuckets(family);
  return families;
}

function matched(pattern: RegExp, line: string): RegExpExecArray {
  const match = pattern.exec(line);
  if (match === null) throw new Error(`no line of the text format: ${line}`);
  return match;
}

function readLabels(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/g)];
  if (pairs.map(([whole]) => whole).join('') !== text) throw new Error(`no labels: ${text}`);
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]));
}

function readValue(text: string): number {
  const value = text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text);
  if (Number.isNaN(value)) throw new Error(`no value: ${text}`);
  return value;
}

/** The buckets of each histogram rise, and the last one holds all. */
function checkBuckets({ samples }: Family): void {
  const last = new Map<string, number>();
  for (const { name, labels, value } of samples) {
    const { le, ...others } = labels;
    const key = JSON.stringify(Object.entries(others).sort());
    if (name.endsWith('_bucket')) {
      if (value < (last.get(key) ?? 0)) throw new Error(`a bucket of ${name} falls: ${le}`);
      last.set(key, value);
    }
    if (name.endsWith('_count') && value !== last.get(key))
      throw new Error(`the buckets of ${name} lack some`);
  }
}
