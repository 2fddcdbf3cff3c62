import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './child-program.ts';

/** The snippet of a page in which a text stands. It must be the only one. */
export function snippetWith(text: string, page: string, language = 'ts'): string {
  const snippets = snippetsOf(page, language).filter((snippet) => snippet.includes(text));
  const [snippet] = snippets;
  if (snippet !== undefined && snippets.length === 1) return snippet;
  throw new Error(`${page} has ${snippets.length} snippets in ${language} with "${text}"`);
}

function snippetsOf(page: string, language: string): string[] {
  const markdown = readFileSync(join(packageRoot, page), 'utf8');
  return Array.from(markdown.matchAll(/^```(\S*)\n(.*?)^```$/gms))
    .filter(([, found]) => found === language)
    .map(([, , code = '']) => code);
}

/**
 * Compiles a snippet in a project that has installed its packages, with their types; returns the path of the
 * JavaScript. `name` ends in `.mts`, or in `.ts` where package.json says which modules the project has.
 */
export function compileSnippet(project: string, name: string, code: string): string {
  writeFileSync(join(project, name), code);
  const tsc = join(packageRoot, 'node_modules', '.bin', 'tsc');
  const types = ['--types', 'node', '--typeRoots', join(packageRoot, 'node_modules', '@types')];
  const options = [
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--strict',
    '--skipLibCheck',
    '--ignoreConfig',
  ];
  execFileSync(tsc, [...options, ...types, name], { cwd: project, stdio: 'inherit' });
  return join(project, name.replace(/ts$/, 'js'));
}
