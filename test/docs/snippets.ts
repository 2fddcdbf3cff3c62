import { join } from 'node:path';
import { createEvent, deliver } from 'posthorn/testing';
import { expect } from 'vitest';
import { type ChildProgram, packageRoot, startCommand } from '../support/child-program.ts';
import { documents } from '../support/documents.ts';
import { untilListening } from '../support/until-listening.ts';

export interface Snippet {
  /** Unique, and the name of its file. */
  readonly name: string;
  readonly code: string;
}

/** Compiled and run in test/matrix, which installs the package. */
export const inMatrix = /from '@opentelemetry\/sdk-node'/;
export const snippets: readonly Snippet[] = documents.flatMap(({ path, blocks }) =>
  withImportsOfPage(
    blocks
      .filter(({ language, code }) => language === 'ts' && !inMatrix.test(code))
      .map(({ code }, index) => ({ name: `${path.replace(/.*\/|\.md$/g, '')}-${index + 1}`, code })),
  ),
);

/** Later snippets of a page import one that begins with `// receiver.js` or `// receiver.ts` by that name. */
function withImportsOfPage(ofPage: readonly Snippet[]): readonly Snippet[] {
  return ofPage.map(({ name, code }, index) => ({
    name,
    code: code.replace(/(?<= from '\.\/)([\w.-]+)\.js(?=')/g, (file, stem) => {
      const imported = ofPage.slice(0, index).findLast((earlier) => earlier.code.startsWith(`// ${stem}.`));
      return imported === undefined ? file : `${imported.name}.js`;
    }),
  }));
}

/**
 * Servers and modules of NestJS get deliveries, other modules are imported by somebody else, vitest runs test
 * files, and programs come to an end by themselves.
 */
function kindsOf(all: readonly Snippet[]) {
  const servers = all.filter(({ code }) => /listen\((\{ port: )?3000/.test(code));
  const nestModules = all.filter(({ code }) => nestModuleOf(code) !== undefined);
  const modules = all.filter((snippet) => /^export /m.test(snippet.code) && !nestModules.includes(snippet));
  const testFiles = all.filter(({ code }) => code.includes("from 'vitest'"));
  const programs = all.filter((snippet) =>
    [servers, nestModules, modules, testFiles].every((others) => !others.includes(snippet)),
  );
  return { all, servers, nestModules, modules, testFiles, programs };
}

const isOfReadme = ({ name }: Snippet): boolean => name.startsWith('README-');
/** These run in the first layer, and those of docs/ in the layer of programs. */
export const ofReadme = kindsOf(snippets.filter(isOfReadme));
export const ofPages = kindsOf(snippets.filter((snippet) => !isOfReadme(snippet)));

/** The name of the module of NestJS that a snippet exports last, and that imports the others. */
function nestModuleOf(code: string): string | undefined {
  return code.match(/(?<=^export class )\w+Module\b/gm)?.at(-1);
}

const key = 'readme-key';

/** Starts snippets in folders: that of their JavaScript, and the one in which they run. */
export function starterIn(folder: string, directory: string, addresses: NodeJS.ProcessEnv = {}) {
  /** Imports snippets in one process, whose lines on stderr stand among those on stdout. */
  return (kind: string, list: readonly Snippet[]): ChildProgram => {
    const environment = {
      ...process.env,
      ...addresses,
      SIGNING_KEY: key,
      STRIPE_SIGNING_KEY: key,
      // Else the SDK of AWS warns on Node.js 20.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    };
    const runner = join(packageRoot, 'test', 'support', 'run-snippets.mjs');
    const work = list.map(({ name, code }) => {
      return { name, path: join(folder, `${name}.js`), nestModule: nestModuleOf(code) };
    });
    const argument = JSON.stringify({ kind, snippets: work });
    const command = ['-c', 'exec "$@" 2>&1', 'sh', process.execPath, runner, argument];
    return startCommand('sh', command, environment, directory);
  };
}

/** The lines that a snippet has printed while it was imported; throws if that has failed. */
export async function printedBy({ line, lines }: ChildProgram, name: string): Promise<readonly string[]> {
  const last = await line(new RegExp(`^(end|fail) ${name}$`));
  const printed = lines.slice(lines.indexOf(`begin ${name}`) + 1, lines.indexOf(last));
  if (last.startsWith('fail')) throw new Error(printed.join('\n'));
  return printed;
}

/** Expects of a server that it handles an event once, and nothing that another key signed. */
export async function expectDeliveries(run: ChildProgram, { name }: Snippet, port: number): Promise<void> {
  await printedBy(run, name);
  await untilListening(port);
  const url = `http://127.0.0.1:${port}/webhooks`;
  const event = createEvent('transfer.succeeded', { amount: 1250 });
  for (const outcome of ['processed', 'duplicate'])
    expect(await (await deliver(url, event, { key })).json()).toEqual({ outcome, id: event.id });
  expect((await deliver(url, event, { key: 'another' })).status).toBe(403);
  await run.line(new RegExp(`^${event.id} 1250$`));
}

/** Expects of a module that its import prints nothing, and that a client which it exports connects. */
export async function expectImported(run: ChildProgram, { name, code }: Snippet): Promise<void> {
  expect(await printedBy(run, name)).toEqual(/export const (redis|pool)\b/.test(code) ? ['connected'] : []);
}
