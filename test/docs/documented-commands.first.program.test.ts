import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { stores } from '../../src/stores/list.ts';
import { packageRoot } from '../support/child-program.ts';
import { type Document, documents } from '../support/documents.ts';

let program: typeof import('../../src/cli/program.ts');

beforeAll(async () => {
  // It looks for the version beside what is built.
  program = await import(pathToFileURL(join(packageRoot, 'dist/src/cli/program.js')).href);
});

describe('the commands of posthorn exist, and so do their options', () => {
  const inBlocks = ({ blocks }: Document): string[] =>
    blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) => code.replace(/\\\n\s*/g, '').match(/(?<=^|\s)posthorn [^|#\n]*/gm) ?? []);
  const inText = ({ text }: Document): string[] =>
    text.match(/(?<=`([A-Z_]+=\S+ |npx )*)posthorn (?!help)[^`]+(?=`)/g) ?? [];
  const lines = documents.flatMap((document) =>
    [...inBlocks(document), ...inText(document)].map((line) => ({ path: document.path, line })),
  );

  test('the documents have some', () => {
    expect(lines.length).toBeGreaterThanOrEqual(20);
  });

  test.each(lines)('$path: $line', async ({ line }) => {
    const [, first = '', second = ''] = line.split(/\s+/);
    const ofStores = stores.filter(({ migration }) => migration !== undefined).map(({ name }) => name);
    const groups: readonly string[] = [
      'webhooks',
      'dead-letters',
      'events',
      'ids',
      'fx-quotes',
      'e-checks',
      'lists',
      ...ofStores,
    ];
    const isGroup = groups.includes(first);
    const command = isGroup ? `${first} ${second}`.trim() : first;
    const { code, stdout } = await helpOf(command);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: posthorn ${command} `);
    const options = line.match(/(?<=\s)--[\w-]+/g) ?? [];
    expect(options.filter((option) => !new RegExp(`^ +${option}\\b`, 'm').test(stdout))).toEqual([]);
    await parseValues(line, isGroup ? [first, second] : [first]);
  });
});

/**
 * Throws if an option of the command refuses its value, unless that stands for another: `<id>`, `…`, `$KEY`.
 */
async function parseValues(line: string, names: readonly string[]): Promise<void> {
  let command = await program.createProgram(names[0]);
  for (const name of names) command = command.commands.find((each) => each.name() === name) ?? command;
  for (const [, flag, quoted = ''] of line.matchAll(/\s(--[\w-]+)[ =]('[^']*'|"[^"]*"|\S+)/g)) {
    const value = quoted.replace(/^(['"])(.*)\1$/, '$2');
    if (/[<…$]/.test(value)) continue;
    command.options.find(({ long }) => long === flag)?.parseArg?.(value, undefined);
  }
}

interface Help {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
}

const helps = new Map<string, Promise<Help>>();

function helpOf(command: string): Promise<Help> {
  const help = helps.get(command) ?? printHelp(command);
  helps.set(command, help);
  return help;
}

/** Runs the program in this process, because it only prints. */
async function printHelp(command: string): Promise<Help> {
  let stdout = '';
  const { exitCode } = process;
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    stdout += text;
    return true;
  });
  try {
    await program.run(['node', 'posthorn', ...command.split(' '), '--help']);
    return { code: process.exitCode, stdout };
  } finally {
    write.mockRestore();
    process.exitCode = exitCode;
  }
}
