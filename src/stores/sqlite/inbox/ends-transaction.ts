/**
 * The parts of a text that matter here: comments, literals and quoted names, the end of a statement, and
 * words. These rules depend on no setting: https://sqlite.org/lang.html. A byte order mark, with which a file
 * may begin, is white space wherever a word could begin, and a letter inside of one.
 */
const PART =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'[^']*(?:''[^']*)*'?|"[^"]*(?:""[^"]*)*"?|`[^`]*(?:``[^`]*)*`?|\[[^\]]*\]?|;|(?!\ufeff)[\w$\u0080-\uffff]+/g;

const ENDS_TRANSACTION = /^(begin|commit|end|rollback(?!( transaction)? to\b))\b/;
const BEGINS_TRIGGER = /^create (temp |temporary )?trigger\b/;

/** Enough words of a statement to know what it does to its transaction: CREATE TEMP TRIGGER … */
const LEADING_WORDS = 3;

/**
 * Returns true if a statement in a text would end its transaction, or begin another one. The body of a
 * trigger has statements of its own, and ends with END.
 */
export function endsTransaction(text: string): boolean {
  let words: string[] = [];
  let isInTrigger = false;
  const isEnding = (): boolean => {
    const statement = words.join(' ');
    words = [];
    if (isInTrigger) isInTrigger = statement !== 'end';
    else if (BEGINS_TRIGGER.test(statement)) isInTrigger = true;
    else return ENDS_TRANSACTION.test(statement);
    return false;
  };
  // SQLite reads no further than a NUL.
  const [read = ''] = text.split('\0', 1);
  for (const [part] of read.matchAll(PART)) {
    if (part === ';' && isEnding()) return true;
    if (/^[\w$\u0080-\uffff]/.test(part) && words.length < LEADING_WORDS) words.push(part.toLowerCase());
  }
  return isEnding();
}
