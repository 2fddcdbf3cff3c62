import { describe } from 'vitest';
import { describeStore } from './conformance.ts';

describe('the store in PostgreSQL', () => describeStore('read committed'));
