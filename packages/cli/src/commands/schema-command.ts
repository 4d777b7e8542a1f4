import type { Command } from "commander";

/** `bobtail schema`: the policy file as JSON Schema. */
export function addSchemaCommand(program: Command): void {
  program
    .command("schema")
    .summary("print the JSON Schema of the policy file")
    .description("Prints the JSON Schema (draft 2020-12) of the policy file, for editors and CI.")
    .addHelpText(
      "after",
      `
Examples:
  bobtail schema > bobtail.schema.json
  then in the policy file:  # yaml-language-server: $schema=bobtail.schema.json`,
    )
    .action(async () => {
      const { policyJsonSchema } = await import("../policy-file/json-schema.ts");
      process.stdout.write(`${JSON.stringify(policyJsonSchema(), null, 2)}\n`);
    });
}
