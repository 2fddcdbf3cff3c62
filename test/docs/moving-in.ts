import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WebhookEvent } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { onTestFinished } from 'vitest';
import { paste } from '../cli/posthorn.ts';
import { packageRoot, startProgram } from '../support/child-program.ts';
import { compileSnippet, snippetWith } from '../support/snippet.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

export const KEY = 'moving-key';
const PAGE = 'docs/moving.md';
const LIST_PAGE = 'docs/cli.md';

/** The parts of a program that a test replaces: the work, if it has some, and the scope. */
export interface Changes {
  readonly book?: string;
  readonly scope?: string;
}

/** A folder in which snippets of the page are modules, within the package so that they can import it. */
export class Place {
  readonly folder: string = temporaryDirectory(join(packageRoot, 'dist'));
  readonly env: { readonly REDIS_URL: string; readonly SIGNING_KEY: string };

  constructor(redisPort: number) {
    this.env = { REDIS_URL: `redis://127.0.0.1:${redisPort}`, SIGNING_KEY: KEY };
  }

  /** Compiles the snippet with a text as a module. `book` takes the place of its work; it may use `redis`. */
  compile(text: string, name: string, changes: Changes = {}): void {
    this.#compileCode(snippetWith(text, PAGE), name, changes);
  }

  /** Compiles the program that lists the ids as the module `list-ids`. */
  compileList(): void {
    this.#compileCode(snippetWith('scanStream', LIST_PAGE), 'list-ids', {});
  }

  /** Compiles the old endpoint as the module `old`. */
  compileOld(changes: Changes): void {
    this.#compileCode(readFileSync(join(import.meta.dirname, 'old-endpoint.ts'), 'utf8'), 'old', changes);
  }

  #compileCode(code: string, name: string, { book = '', scope = 'billing-production' }: Changes): void {
    const changed = code
      .replace(/(console\.log\('book'|process\.stdout\.write\(`book).*/, () => `{ ${book} }`)
      .replace('billing-production', scope);
    compileSnippet(this.folder, `${name}.ts`, changed);
  }

  /** Replaces a text of a compiled module. */
  replace(name: string, text: string, by: string): void {
    const file = join(this.folder, `${name}.js`);
    writeFileSync(file, readFileSync(file, 'utf8').replace(text, by));
  }

  /** Runs the commands of the pages that list the ids of the old program and import them. */
  importByPage(): Promise<string> {
    const list = snippetWith('list-ids.js', LIST_PAGE, 'sh');
    const ids = snippetWith('import ids.tsv', PAGE, 'sh');
    return paste(`cd '${this.folder}'\n${list}${ids}`, this.env);
  }

  /** Starts a program that listens: `served` makes a listener of what it imports. */
  async start(module: string, served: string) {
    const file = join(this.folder, `serve-${module}.js`);
    writeFileSync(file, serverOf(module, served));
    const program = startProgram(file, { PATH: process.env.PATH, ...this.env }, this.folder);
    onTestFinished(() => program.kill('SIGKILL'));
    const [, port] = (await program.line(/^listening /)).split(' ');
    const url = `http://127.0.0.1:${port}/webhooks`;
    return { program, url, send: (event: WebhookEvent) => send(url, event) };
  }
}

function serverOf(module: string, served: string): string {
  return `import { createServer } from 'node:http';
import { toNode } from 'posthorn/node';
import * as module from './${module}.js';
const server = createServer({ keepAliveTimeout: 0 }, ${served}).listen(0, '127.0.0.1', () => {
  console.log('listening', server.address().port);
});
`;
}

/** Sends an event once. Resolves with the body of a 2xx; undefined for any other end. */
async function send(url: string, event: WebhookEvent): Promise<string | undefined> {
  try {
    const response = await deliver(url, event, { key: KEY });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined; // The process was killed, or does not listen any more.
  }
}

/** Events with ids that begin with a name. */
export function eventsOf(name: string, count: number): readonly WebhookEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    ...createEvent('transfer.succeeded', { amount: 1250 }),
    id: `evt_${name}_${index}`,
  }));
}

/** Works on a list, 30 entries at a time. */
export async function workOn<T>(list: readonly T[], work: (entry: T) => Promise<void>): Promise<void> {
  const rest = list.values();
  const worker = async (): Promise<void> => {
    for (const entry of rest) await work(entry);
  };
  await Promise.all(Array.from({ length: 30 }, worker));
}
