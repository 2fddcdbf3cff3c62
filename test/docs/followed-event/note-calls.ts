import { relative } from 'node:path';
import type { Plugin } from 'rolldown';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';
import { packageRoot } from '../../support/child-program.ts';

declare global {
  /** Called by each function that is followed, with its key in the map of {@link noteCalls}. */
  var noteCall: ((called: string) => void) | undefined;
}

/** A function of the sources. */
export interface Followed {
  readonly file: string;
  /** That of a method follows the name of its class. */
  readonly name: string;
  /** The first sentence of its doc comment. */
  readonly does: string;
}

/** A sentence that begins with a verb, and with another one than those of mere results. */
const IS_STEP = /^(?!Returns|Resolves)[A-Z][a-z]+s\b/;

/**
 * Puts a call of `noteCall` into the functions of the files that match, and these functions into `found`:
 * those whose doc comment begins with what they do. A function that only answers a question ("The …",
 * "Returns …"), or that has no doc comment, is a detail of the function that calls it.
 */
export function noteCalls(files: RegExp, found: Map<string, Followed>): Plugin {
  return {
    name: 'note-calls',
    transform: (code, id) => {
      const file = relative(packageRoot, id).replaceAll('\\', '/');
      if (!files.test(file)) return null;
      const notes: { readonly at: number; readonly key: string }[] = [];
      const follow = (name: string, start: number, body: ESTree.FunctionBody | null): void => {
        const does = firstSentence(code.slice(0, start));
        if (body === null || does === undefined || !IS_STEP.test(does)) return;
        const key = `${file} ${name}`;
        found.set(key, { file, name, does });
        notes.push({ at: body.start + 1, key });
      };
      let inClass = '';
      new Visitor({
        ClassDeclaration: ({ id: name }) => {
          inClass = name?.name ?? '';
        },
        FunctionDeclaration: ({ id: name, start, body }) => follow(name?.name ?? '', start, body),
        MethodDefinition: ({ key, kind, start, value }) => {
          if (kind === 'method') follow(`${inClass}.${code.slice(key.start, key.end)}`, start, value.body);
        },
      }).visit(parseSync(id, code).program);
      return withNotes(code, notes);
    },
  };
}

function withNotes(code: string, notes: readonly { readonly at: number; readonly key: string }[]): string {
  const lastFirst = notes.toSorted((one, other) => other.at - one.at);
  return lastFirst.reduce(
    (noted, { at, key }) => `${noted.slice(0, at)}globalThis.noteCall?.('${key}');${noted.slice(at)}`,
    code,
  );
}

/** The first sentence of the doc comment that the text ends with. */
function firstSentence(text: string): string | undefined {
  const [, comment = ''] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:export )?$/.exec(text) ?? [];
  const lines = comment.replace(/\s*\n\s*\* ?/g, ' ').replace(/\{@link (\w+)\}/g, '`$1`');
  return /^.*?\.(?=\s|$)/.exec(lines.trim())?.[0];
}
