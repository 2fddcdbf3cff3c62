import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { packageRoot } from '../../support/child-program.ts';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const FORMS = '.github/ISSUE_TEMPLATE';

// Only what these tests look at: GitHub checks the rest when the files are pushed.
const form = z.object({ body: z.array(z.object({ type: z.string(), id: z.string().optional() }).loose()) });
const chooser = z.object({ contact_links: z.array(z.object({ url: z.string() })) });
const dependabot = z.object({
  updates: z.array(
    z.object({
      'package-ecosystem': z.string(),
      directories: z.array(z.string()).optional(),
      ignore: z.array(z.object({ 'dependency-name': z.string() })).optional(),
    }),
  ),
});

describe('the forms of issues', () => {
  const files = readdirSync(join(packageRoot, FORMS)).filter((name) => name !== 'config.yml');

  test.each(files)('%s has fields, each with an id of its own', (file) => {
    const { body } = form.parse(parse(read(`${FORMS}/${file}`)));
    const ids = body.filter(({ type }) => type !== 'markdown').map(({ id }) => id);
    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(0);
  });

  test.each(files)('%s asks nobody for keys, credentials or events', (file) => {
    const [first] = form.parse(parse(read(`${FORMS}/${file}`))).body;
    expect(first).toMatchObject({ type: 'markdown' });
    expect(JSON.stringify(first)).toContain(
      'Leave out signing keys, credentials and the bodies of real events.',
    );
  });

  test('lead a vulnerability to a private advisory', () => {
    const { contact_links: links } = chooser.parse(parse(read(`${FORMS}/config.yml`)));
    expect(links.map(({ url }) => url)).toEqual([
      'https://github.com/posthorn/posthorn/security/advisories/new',
    ]);
  });
});

describe('dependabot.yml', () => {
  const { updates } = dependabot.parse(parse(read('.github/dependabot.yml')));
  const npm = updates.find((one) => one['package-ecosystem'] === 'npm');
  const manifest = z
    .object({
      peerDependencies: z.record(z.string(), z.string()),
      devDependencies: z.record(z.string(), z.string()),
    })
    .parse(JSON.parse(read('package.json')));

  test('looks after every folder that has packages of its own', () => {
    const folders = [
      '',
      ...['bench', 'tools', 'examples'].flatMap((parent) => [
        parent,
        ...readdirSync(join(packageRoot, parent)).map((name) => `${parent}/${name}`),
      ]),
    ].filter((folder) => existsSync(join(packageRoot, folder, 'package.json')));
    const looked = (npm?.directories ?? []).map(
      (path) => new RegExp(`^${path.slice(1).replace('*', '[^/]+')}$`),
    );
    expect(folders.length).toBeGreaterThan(5);
    expect(folders.filter((folder) => !looked.some((path) => path.test(folder)))).toEqual([]);
  });

  test('leaves new major versions of peers, and what stands for an older one, to a person', () => {
    const names = npm?.ignore?.map((one) => one['dependency-name']);
    const aliases = Object.entries(manifest.devDependencies).filter(([, range]) => range.startsWith('npm:'));
    const wanted = [...Object.keys(manifest.peerDependencies), ...aliases.map(([name]) => name)];
    expect(names).toEqual(expect.arrayContaining(wanted));
  });
});
