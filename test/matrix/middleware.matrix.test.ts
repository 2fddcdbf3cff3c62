import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { installPackage } from '../support/installed-package.ts';

/** What the program of a folder of test/matrix/projects prints, with these packages in place. */
function linesOf(name: string, ...packages: readonly string[]): string[] {
  const { project, run, remove } = installPackage(['npm install posthorn', ...packages].join(' '));
  onTestFinished(remove);
  cpSync(join(import.meta.dirname, 'projects', name), project, { recursive: true });
  return run('node', ['main.mjs']).trim().split('\n');
}

test.each(['2', '3'])('toKoa among what others have written for Koa %s', (version) => {
  const others = ['@koa/bodyparser@6', '@koa/router', 'koa-body', 'koa-compress', 'koa-mount'];
  expect(linesOf('koa', `koa@${version}`, ...others)).toEqual([
    'router: processed, signature_mismatch',
    'mount, whole path: processed, signature_mismatch',
    'mount, rest of the path: processed, signature_mismatch',
    'behind compression: processed, signature_mismatch',
    'before bodyParser: processed, signature_mismatch',
    'behind bodyParser: body_already_parsed, body_already_parsed',
    'behind bodyParser, text kept: processed, signature_mismatch',
    'behind koaBody: body_already_parsed, body_already_parsed',
  ]);
});

test('toFastify among what others have written for Fastify', () => {
  const others = ['@fastify/compress', '@fastify/formbody', '@fastify/helmet', 'fastify-raw-body'];
  expect(linesOf('fastify', 'fastify@5', ...others)).toEqual([
    '@fastify/compress: processed, signature_mismatch, no x-frame-options',
    '@fastify/helmet: processed, signature_mismatch, SAMEORIGIN',
    '@fastify/formbody: processed, signature_mismatch, no x-frame-options',
    'fastify-raw-body: processed, signature_mismatch, no x-frame-options',
    'fastify-raw-body, first: processed, signature_mismatch, no x-frame-options',
  ]);
});

test('toExpress and the module for NestJS on Lambda, by serverless-http and serverless-express', () => {
  const wrappers = ['serverless-http-3@npm:serverless-http@3', 'serverless-http-4@npm:serverless-http@4'];
  const nest = [
    '@nestjs/common@11',
    '@nestjs/core@11',
    '@nestjs/platform-express@11',
    'reflect-metadata',
    'rxjs',
  ];
  const packages = ['express@5', ...wrappers, '@codegenie/serverless-express@4', ...nest];
  const lines = linesOf('serverless', ...packages);
  expect(lines).toHaveLength(12);
  const refused = 'credentials_invalid, signature_mismatch';
  const ends = lines.map((line) => line.replace(/^[^,]*, \w+, /, ''));
  expect(new Set(ends)).toEqual(
    new Set([`1.0: processed, ${refused}`, `2.0: processed, ${refused}, signature_malformed`]),
  );
});
