import { describe, expect, test } from "vitest";
import { satisfies } from "../../../../local-agent/node/npx-call.ts";

describe("[UT51] an installed version", () => {
  test.each([
    ["1.2.3", "1.2.3", true],
    ["1.2.3", "v1.2.3", true],
    ["1.2.3", "1.2.4", false],
    ["1.2.3", "1.2.3-beta.1", false],
    ["1.2.3-beta.1", "1.2.3-beta.1", true],
    ["1.2.3", "", true],
    ["1.2.3", "latest", true],
    ["2.0.0-rc.1", "next", true],
    ["1.2.3", "^1.0.0", true],
    ["1.2.3", "^1.2.4", false],
    ["1.2.3", "^1.3", false],
    ["2.0.0", "^1.0.0", false],
    ["0.2.9", "^0.2.3", true],
    ["0.3.0", "^0.2.3", false],
    ["0.0.4", "^0.0.3", false],
    ["1.2.9", "~1.2.3", true],
    ["1.3.0", "~1.2.3", false],
    ["1.9.0", "~1", true],
    ["1.2.3", "1", true],
    ["1.2.3", "1.2", true],
    ["1.3.0", "1.2", false],
    ["1.2.3", "1.x", true],
    ["2.0.0", "1.x", false],
    ["2.0.0-rc.1", "^2.0.0", false],
    ["1.2.3", ">=1", false],
    ["1.2.3", "1.2.3||2", false],
  ])("%s for %j: %s", (installed, wanted, fits) => {
    expect(satisfies(installed, wanted)).toBe(fits);
  });
});
