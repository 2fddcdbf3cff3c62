import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
  readonly peerDependencies: Readonly<
    Record<'@aws-sdk/client-dynamodb' | 'better-sqlite3' | 'ioredis' | 'pg', string>
  >;
}

// Above dist/src/cli, where this file is built to.
const manifest: Manifest = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);

/** The version of this package. */
export const version: string = manifest.version;

/** The versions of the SDK for DynamoDB that this package works with. */
export const dynamoClientVersions: string = manifest.peerDependencies['@aws-sdk/client-dynamodb'];

/** The versions of better-sqlite3 that this package works with. */
export const betterSqliteVersions: string = manifest.peerDependencies['better-sqlite3'];

/** The versions of ioredis that this package works with. */
export const ioredisVersions: string = manifest.peerDependencies.ioredis;

/** The versions of pg that this package works with. */
export const pgVersions: string = manifest.peerDependencies.pg;
