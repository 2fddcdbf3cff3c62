import { test } from 'vitest';
import { expectLikeModel } from '../kit/memory-like-model.ts';

test('the memory store behaves as the reference model under 5,000 interleavings of its operations and of time', () =>
  expectLikeModel(5_000));
