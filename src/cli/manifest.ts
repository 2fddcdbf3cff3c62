import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

// Above dist/src/cli, where this file is built to.
const manifest: Manifest = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);

/** The version of this package. */
export const version: string = manifest.version;

/** The versions of each optional package that this package works with. */
export const peerVersions: Manifest['peerDependencies'] = manifest.peerDependencies;
