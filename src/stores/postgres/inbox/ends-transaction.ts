/** Enough words of a statement to know what it does to its transaction: ROLLBACK WORK TO … */
const LEADING_WORDS = 3;

const ENDS_TRANSACTION =
  /^(begin|start transaction|commit|end|abort|prepare transaction|rollback(?!( (work|transaction))? to\b))\b/;

/** Returns true if the first statement of a text would end its transaction, or seem to begin another one. */
export function endsTransaction(text: string): boolean {
  return ENDS_TRANSACTION.test(leadingWords(text));
}

const ENDING_WORD = /\b(abort|commit|end|prepare|rollback)\b/gi;

/**
 * Returns true if a later statement of a text may end its transaction. It is also true for many that do not,
 * such as DO blocks: what is in a literal, in a comment or in a body depends on settings of the session, and
 * PostgreSQL alone reads it right.
 */
export function mayEndTransaction(text: string): boolean {
  const semicolon = text.indexOf(';');
  if (semicolon < 0) return false;
  ENDING_WORD.lastIndex = semicolon;
  return ENDING_WORD.test(text);
}

const WORD = /\w+/y;
const BEFORE_STATEMENT = /[\s;]+|--[^\n\r]*/y;
const BETWEEN_WORDS = /\s+|--[^\n\r]*/y;

/** The first words of a text, in lower case, without the comments and empty statements before and between. */
function leadingWords(text: string): string {
  const words: string[] = [];
  let position = skip(text, 0, BEFORE_STATEMENT);
  while (words.length < LEADING_WORDS) {
    const end = endOf(WORD, text, position);
    if (end === position) break;
    words.push(text.slice(position, end).toLowerCase());
    position = skip(text, end, BETWEEN_WORDS);
  }
  return words.join(' ');
}

/** The position after all comments, and all that matches `blank`. */
function skip(text: string, start: number, blank: RegExp): number {
  let position = start;
  for (;;) {
    const end = text.startsWith('/*', position) ? endOfComment(text, position) : endOf(blank, text, position);
    if (end === position) return position;
    position = end;
  }
}

/** Comments of PostgreSQL nest. One that is not closed takes the rest of the text. */
function endOfComment(text: string, start: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  let depth = 0;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return text.length;
}

/** The end of what a sticky expression matches at a position, or the position itself. */
function endOf(sticky: RegExp, text: string, position: number): number {
  sticky.lastIndex = position;
  return sticky.test(text) ? sticky.lastIndex : position;
}
