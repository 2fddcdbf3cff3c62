import { type MockInstance, onTestFinished, vi } from 'vitest';

/** Keeps what is printed to the console by this function from the terminal, until the test is over. */
export function silenced(name: 'error' | 'info' | 'warn'): MockInstance<typeof console.error> {
  const spy = vi.spyOn(console, name).mockImplementation(() => {});
  onTestFinished(() => void spy.mockRestore());
  return spy;
}
