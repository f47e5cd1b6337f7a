import { vi } from 'vitest';
import type { testStage as runSmokeTest } from '../../deploy/checks/stage.ts';

/** The smoke test, for a test file that imports this one before deploy/. */
export const testStage = vi.fn<typeof runSmokeTest>();
vi.mock(import('../../deploy/checks/stage.ts'), () => ({ testStage }));
