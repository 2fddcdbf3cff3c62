import { describe } from 'vitest';
import { fromOutside } from './from-outside.ts';
import { expressVersions, mountBehind, mountOnNode } from './mounts.ts';

describe('toNode on node:http', () => fromOutside(mountOnNode));

describe.each(expressVersions)('toExpress on %s', (_, express) => fromOutside(mountBehind(express)));
