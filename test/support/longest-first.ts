import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Short files that run for long, because npm or a storm does the work. They begin first, longest first. */
const LONG: readonly string[] = [
  ...['nestjs', 'commonjs', 'clone', 'example-nest-express', 'example-nest-fastify', 'rolling-deploy'],
  ...['example-worker-d1', 'example-sveltekit', 'example-next', 'd1', 'postgres-clients'],
].map((name) => `/test/matrix/${name}.matrix.test.ts`);

/** Has no long file begin when the others are over: it would run alone. */
export default class LongestFirst extends BaseSequencer {
  /** Vitest puts large files first, or those that took long the last time. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = LONG.findIndex((path) => moduleId.endsWith(path));
      return place < 0 ? LONG.length : place;
    };
    return (await super.sort(files)).sort((one, other) => placeOf(one) - placeOf(other));
  }
}
