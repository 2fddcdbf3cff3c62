import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { packageRoot } from '../support/child-program.ts';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const FORMS = '.github/ISSUE_TEMPLATE';

// What GitHub documents for these files. It ignores a file with a mistake, and tells nobody of it.

const validations = z.strictObject({ required: z.boolean() });
const field = <Attributes extends z.ZodRawShape>(attributes: Attributes) => ({
  id: z.string().regex(/^[\w-]+$/),
  attributes: z.strictObject({ label: z.string(), description: z.string().optional(), ...attributes }),
  validations: validations.optional(),
});
const value = { value: z.string().optional(), placeholder: z.string().optional() };
const form = z.strictObject({
  name: z.string(),
  description: z.string(),
  labels: z.array(z.string()),
  body: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('markdown'), attributes: z.strictObject({ value: z.string() }) }),
      z.strictObject({ type: z.literal('input'), ...field(value) }),
      z.strictObject({ type: z.literal('textarea'), ...field({ ...value, render: z.string().optional() }) }),
    ]),
  ),
});
const chooser = z.strictObject({
  blank_issues_enabled: z.boolean(),
  contact_links: z.array(z.strictObject({ name: z.string(), url: z.url(), about: z.string() })),
});

const update = z.strictObject({
  'package-ecosystem': z.enum(['npm', 'github-actions']),
  directory: z.string().startsWith('/').optional(),
  directories: z.array(z.string().startsWith('/')).optional(),
  schedule: z.strictObject({ interval: z.enum(['daily', 'weekly', 'monthly']) }),
  cooldown: z.strictObject({ 'default-days': z.int() }),
  'open-pull-requests-limit': z.int().optional(),
  'versioning-strategy': z
    .enum(['auto', 'increase', 'increase-if-necessary', 'lockfile-only', 'widen'])
    .optional(),
  groups: z.record(
    z.string(),
    z.strictObject({
      patterns: z.array(z.string()),
      'update-types': z.array(z.enum(['major', 'minor', 'patch'])).optional(),
    }),
  ),
  ignore: z
    .array(
      z.strictObject({
        'dependency-name': z.string(),
        'update-types': z
          .array(z.templateLiteral(['version-update:semver-', z.enum(['major', 'minor', 'patch'])]))
          .optional(),
      }),
    )
    .optional(),
});
const dependabot = z.strictObject({ version: z.literal(2), updates: z.array(update) });

describe('the forms of issues', () => {
  const files = readdirSync(join(packageRoot, FORMS)).filter((name) => name !== 'config.yml');

  test.each(files)('%s is one that GitHub shows', (file) => {
    const { body } = form.parse(parse(read(`${FORMS}/${file}`)));
    const ids = body.flatMap((part) => ('id' in part ? [part.id] : []));
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
