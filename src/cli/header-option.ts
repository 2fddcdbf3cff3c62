import { Option } from 'commander';
import { type HeaderFields, type HeaderValues, readHeaders } from '../receiver/request/headers.ts';
import { usageError } from './failure.ts';
import { readInput } from './input.ts';
import { isObject } from './module-exports.ts';

/** The option for the headers of a captured request; it can be repeated, as `-H` of curl. */
export function headerOption(): Option {
  return new Option(
    '--header <header>',
    'a header of the request, as "name: value", or @file with all of them; can be repeated',
  ).argParser((text: string, before: readonly string[] = []) => [...before, text]);
}

/** Reads the values of the option. Errors do not quote them, because a header may hold credentials. */
export async function readHeaderOptions(texts: readonly string[]): Promise<HeaderValues> {
  const pairs: [string, string][] = [];
  for (const text of texts) {
    const read = text.startsWith('@') ? await readFileOf(text.slice(1)) : readLines(text);
    for (const [name, values = []] of Object.entries(read))
      for (const value of values) pairs.push([name, value]);
  }
  return readHeaders(pairs);
}

/** A file has the lines of the request, or JSON: an object as `req.headers` of Node.js, or a list. */
async function readFileOf(file: string): Promise<HeaderValues> {
  const text = Buffer.from(await readInput(file)).toString();
  if (!/^\s*[[{]/.test(text)) return readLines(text);
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {}
  if (isFields(fields)) return readHeaders(fields);
  throw usageError('the headers of --header are neither JSON nor lines of "name: value"');
}

function isFields(value: unknown): value is HeaderFields {
  return isObject(value);
}

/** Reads lines of RFC 9112, section 5. A request line and empty lines are passed over. */
function readLines(text: string): HeaderValues {
  const lines = text.split(/\r?\n/).filter((line) => line !== '' && !/^[A-Z]+ \S+ HTTP\/[\d.]+$/.test(line));
  return readHeaders(
    lines.map((line) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw usageError('--header takes "name: value", or @ and a file with such lines');
      return [name, value.trimEnd()];
    }),
  );
}
