import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../support/child-program.ts';
import { type CopiedPackage, copyPackage } from '../support/copied-package.ts';

/** A client of Redis that a project may have. */
export interface InstalledClient {
  readonly client: string;
  /** Its folder in node_modules of this repository, where each version has its own. */
  readonly folder: string;
  /** The name by which a project imports it. */
  readonly name: string;
}

export const nodeRedis6: InstalledClient = { client: 'node-redis 6', folder: 'redis', name: 'redis' };
export const nodeRedis5: InstalledClient = { client: 'node-redis 5', folder: 'redis-5', name: 'redis' };
export const ioredis6: InstalledClient = { client: 'ioredis 6', folder: 'ioredis', name: 'ioredis' };

export interface ClientProject extends CopiedPackage {
  /** The program of the project. */
  readonly program: string;
}

/** A project that has posthorn and one client of Redis. */
export function createProject({ folder, name }: InstalledClient): ClientProject {
  const copied = copyPackage();
  symlinkSync(join(packageRoot, 'node_modules', folder), join(copied.project, 'node_modules', name));
  return { ...copied, program: join(copied.root, 'dist', 'src', 'cli', 'bin.js') };
}
