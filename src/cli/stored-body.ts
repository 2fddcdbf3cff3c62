import { isUtf8 } from 'node:buffer';
import { colours, line, type Printable, TerminalText } from './terminal-text.ts';

/** A body and its headers, as they were stored. */
interface StoredBody {
  readonly headers: { readonly [name: string]: readonly string[] };
  readonly rawBody: Uint8Array;
}

/** The members of a stored body, for `--json`. */
export function valueOfBody({ headers, rawBody }: StoredBody): object {
  const bytes = Buffer.from(rawBody);
  return { headers, rawBody: bytes.toString('base64'), ...(isUtf8(bytes) && { body: bytes.toString() }) };
}

/** A stored body for people. */
export function linesOfBody({ headers, rawBody }: StoredBody): readonly Printable[] {
  const bytes = Buffer.from(rawBody);
  const title = `body, ${bytes.byteLength} bytes${isUtf8(bytes) ? '' : ', which are not UTF-8'}`;
  return [
    colours.strong('headers'),
    ...Object.entries(headers).map(([name, values]) => lineOfField(`  ${name}`, values.join(', '))),
    colours.strong(title),
    TerminalText.paragraph(bytes.toString()),
  ];
}

/** The members of an object, one line each. */
export function linesOfFields(fields: object): readonly TerminalText[] {
  return Object.entries(fields).map(([name, value]) => lineOfField(name, String(value ?? '?')));
}

function lineOfField(name: string, value: string): TerminalText {
  return line`${colours.strong(name)} ${value}`;
}
