import { expect, test } from "vitest";
import { policyJsonSchema } from "./json-schema.ts";

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly [key: string]: unknown;
}

/** Every object schema in the tree with its path. */
function objects(node: unknown, path = ""): [string, Node][] {
  if (typeof node !== "object" || node === null) return [];
  const here: [string, Node][] = "properties" in node ? [[path, node as Node]] : [];
  return here.concat(
    Object.entries(node).flatMap(([key, child]) => objects(child, `${path}/${key}`)),
  );
}

test("the JSON Schema is of draft 2020-12, closed, and describes every key", () => {
  const schema = policyJsonSchema();
  expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
  const found = objects(schema);
  expect(found.length).toBeGreaterThan(12);
  for (const [path, object] of found) {
    expect([path, object.additionalProperties]).toEqual([path, false]);
    for (const [key, property] of Object.entries(object.properties ?? {})) {
      expect([`${path}/${key}`, typeof property.description]).toEqual([`${path}/${key}`, "string"]);
    }
  }
});

test("the JSON Schema asks for what the check asks for", () => {
  const required = objects(policyJsonSchema()).map(([, object]) => object.required);
  expect(required[0]).toEqual(["services"]);
  expect(required).toContainEqual(["endpoints"]);
  expect(required).toContainEqual(["url"]);
  expect(required).toContainEqual(["after"]);
});
