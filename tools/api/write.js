/**
 * Writes the pages of the public surface, and the reports of its signatures, below a folder: that of the
 * package by default. Fails if a public symbol has no doc comment.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from './entries.js';
import { writePages } from './pages.js';
import { writeReports } from './reports.js';

const target = resolve(process.argv[2] ?? root);
const pages = join(target, 'docs', 'api');
const reports = join(target, 'tools', 'api', 'report');
for (const folder of [pages, reports]) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
const isGood = [await writePages(pages), writeReports(reports)].every(Boolean);
process.exitCode = isGood ? 0 : 1;
