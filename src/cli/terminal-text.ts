import { styleText } from 'node:util';
import { escapeControls } from '../receiver/outcomes/escape.ts';

/** A part of a line. A string is escaped; only this file creates a `TerminalText`. */
export type Printable = string | number | TerminalText;

/** Text that is safe to print, whoever sent it: only the colours of this file can control the terminal. */
export class TerminalText {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** One line: a line end in it is escaped as well. */
  static line(part: Printable): TerminalText {
    return part instanceof TerminalText ? part : new TerminalText(escapeControls(String(part)));
  }

  /** Several lines as they came, their tabs kept. */
  static paragraph(text: string): TerminalText {
    const parts = text.split(/([\n\t])/);
    return new TerminalText(
      parts.map((part, index) => (index % 2 === 0 ? escapeControls(part) : part)).join(''),
    );
  }

  static lines(parts: readonly Printable[]): TerminalText {
    return new TerminalText(parts.map(textOf).join('\n'));
  }

  static joined(parts: readonly Printable[], separator: string): TerminalText {
    return new TerminalText(parts.map(textOf).join(escapeControls(separator)));
  }

  static styled(format: Format, part: Printable): TerminalText {
    return new TerminalText(styleText(format, textOf(part), { stream: process.stdout }));
  }

  /** Only for the functions that write: the resulting string would be escaped a second time. */
  static textOf(part: Printable): string {
    return TerminalText.line(part).#text;
  }
}

const { textOf } = TerminalText;

type Format = 'green' | 'red' | 'yellow' | 'gray' | 'bold';

/** A line as a template: its values are escaped, their colours are kept. */
export function line(strings: TemplateStringsArray, ...values: readonly Printable[]): TerminalText {
  return joined(
    strings.flatMap((text, index) => [text, values[index] ?? '']),
    '',
  );
}

/** A line of several parts. */
export function joined(parts: readonly Printable[], separator = ' '): TerminalText {
  return TerminalText.joined(parts, separator);
}

/** Colours, on a terminal only, and only if `NO_COLOR` is not set. */
export const colours = {
  good: (part: Printable): TerminalText => TerminalText.styled('green', part),
  bad: (part: Printable): TerminalText => TerminalText.styled('red', part),
  doubtful: (part: Printable): TerminalText => TerminalText.styled('yellow', part),
  minor: (part: Printable): TerminalText => TerminalText.styled('gray', part),
  strong: (part: Printable): TerminalText => TerminalText.styled('bold', part),
} as const;
