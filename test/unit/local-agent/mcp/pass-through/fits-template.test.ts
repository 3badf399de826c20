import { UriTemplate } from "@modelcontextprotocol/server";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitsTemplate } from "../../../../../local-agent/mcp/pass-through/fits-template.ts";

describe("an address and a template", () => {
  test.each([
    ["test://template/{id}/data", "test://template/7/data", true],
    ["test://template/{id}/data", "test://template/7/8/data", false],
    ["test://template/{id}/data", "test://template//data", false],
    ["file:///{+path}", "file:///a/b.txt", true],
    ["file:///{path*}", "file:///a,b", true],
    ["x://search{?q,page}", "x://search?q=a&page=2", true],
    ["x://search{?q,page}", "x://search?q=a", false],
    ["x://a{/b}{.c}", "x://a/b.c", true],
    ["x://plain", "x://plain", true],
    ["x://{a", "x://{a", false],
    ["x://{}", "x://b", false],
    ["", "x://b", false],
  ])("[PT2] %s, %s: %s", (template, uri, fits) => {
    expect(fitsTemplate(template, uri)).toBe(fits);
  });

  test("[PT2] fit as the SDK says, for templates that it is safe to ask it about", () => {
    const piece = fc.constantFrom("a", "/", "x://", ".", "{a}", "{+b}", "{/c}", "{.d}", "{?e,f}", "{&g}");
    const uri = fc.string({ unit: fc.constantFrom("a", "/", ".", "?", "e", "=", "&", "f", "x://", ","), maxLength: 10 });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 5 }), uri, (pieces, address) => {
        const template = pieces.join("");
        expect(fitsTemplate(template, address)).toBe(new UriTemplate(template).match(address) !== null);
      }),
    );
  });

  test("[PT12] are compared in a moment, however the template is made", () => {
    const uri = `file:///${"x".repeat(1900)}`;
    expect(fitsTemplate(`${"{+a}".repeat(16)}!`, uri)).toBe(false);
    expect(fitsTemplate(`${"{a}x".repeat(16)}!`, uri)).toBe(false);
  });

  test("[PT12] that are longer than anybody writes fit nothing", () => {
    expect(fitsTemplate("{+a}".repeat(17), "abcdefghijklmnopqrstuvwxyz")).toBe(false);
    expect(fitsTemplate("{+a}", "x".repeat(2001))).toBe(false);
  });
});
