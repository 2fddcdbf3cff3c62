import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';

/** A pool as applications write it: it opens and closes in hooks. */
export function poolOf(log: string[], name: string) {
  @Injectable()
  class Pool implements OnModuleInit, OnModuleDestroy {
    onModuleInit(): void {
      log.push(`${name} opens`);
    }

    onModuleDestroy(): void {
      log.push(`${name} closes`);
    }
  }
  return Pool;
}
