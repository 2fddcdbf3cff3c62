import { describe } from 'vitest';
import { describeStore, isolated } from './conformance.ts';

describe('the store in PostgreSQL', () => describeStore(isolated('read committed')));
