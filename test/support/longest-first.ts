import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Short files that run for long, because npm, an exploration or a storm does the work. They begin first. */
const LONG: readonly string[] = [
  ...['matrix/nestjs', 'matrix/commonjs', 'matrix/clone', 'matrix/example-nest-express'],
  ...['matrix/example-nest-fastify', 'matrix/rolling-deploy', 'matrix/example-worker-d1'],
  ...['matrix/example-sveltekit', 'matrix/example-next', 'matrix/d1', 'matrix/postgres-clients'],
  ...['simulation/simulation', 'redis/keys', 'postgres/keys', 'sqlite/keys'],
  ...['walks/walks', 'simulation/keys/keys'],
];

/** Has no long file begin when the others are over: it would run alone. */
export default class LongestFirst extends BaseSequencer {
  /** Vitest puts large files first, or those that took long the last time. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = LONG.findIndex((name) => moduleId.includes(`/${name}.`));
      return place < 0 ? LONG.length : place;
    };
    return (await super.sort(files)).sort((one, other) => placeOf(one) - placeOf(other));
  }
}
