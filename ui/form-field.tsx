/** One field of an MCP server's form. What it is called is the server's own text. */
import { useId } from "preact/hooks";
import type { JSX } from "preact";
import type { FormField, GivenValue } from "../shared/form-fields.ts";
import { visibleLine } from "../shared/visible-text.ts";
import { StrangerText } from "./stranger-text.tsx";

export interface FormFieldProps {
  readonly field: FormField;
  readonly value: GivenValue;
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  readonly onValue: (value: GivenValue) => void;
}

export function FormFieldShown({ field, value, problem, isBusy, onValue }: FormFieldProps): JSX.Element {
  const id = useId();
  const problemId = `${id}-problem`;
  const described = problem === undefined ? undefined : problemId;
  return (
    <div class="form-field">
      {field.kind === "choices" ? (
        <fieldset aria-describedby={described}>
          <legend>
            <FieldTitle field={field} />
          </legend>
          <Choices field={field} picked={Array.isArray(value) ? value : []} isBusy={isBusy} onValue={onValue} />
        </fieldset>
      ) : (
        <>
          <label for={id}>
            <FieldTitle field={field} />
          </label>
          <Control field={field} id={id} value={value} described={described} isBusy={isBusy} onValue={onValue} />
        </>
      )}
      {field.description === "" ? null : (
        <p class="muted">
          <StrangerText text={field.description} maxChars={1_000} />
        </p>
      )}
      <p id={problemId} class="problem" role="alert">
        {problem}
      </p>
    </div>
  );
}

function FieldTitle({ field }: { readonly field: FormField }): JSX.Element {
  return (
    <>
      <StrangerText text={field.title} maxChars={200} />
      {field.required ? <span class="muted"> (required)</span> : null}
    </>
  );
}

interface ControlProps extends Omit<FormFieldProps, "problem"> {
  readonly id: string;
  readonly described: string | undefined;
}

function Control({ field, id, value, described, isBusy, onValue }: ControlProps): JSX.Element {
  const every = { id, disabled: isBusy, "aria-describedby": described };
  if (field.kind === "switch")
    return <input {...every} type="checkbox" checked={value === true} onChange={(event) => onValue(event.currentTarget.checked)} />;
  const text = typeof value === "string" ? value : "";
  if (field.kind === "choice") {
    return (
      <select {...every} value={text} onChange={(event) => onValue(event.currentTarget.value)}>
        <option value="">{field.required ? "Choose …" : "—"}</option>
        {field.choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {visibleLine(choice.title, 200)}
          </option>
        ))}
      </select>
    );
  }
  return (
    <input
      {...every}
      type="text"
      autocomplete="off"
      inputMode={field.kind === "number" ? (field.whole ? "numeric" : "decimal") : "text"}
      value={text}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  );
}

interface ChoicesProps {
  readonly field: Extract<FormField, { kind: "choices" }>;
  readonly picked: readonly string[];
  readonly isBusy: boolean;
  readonly onValue: (value: string[]) => void;
}

function Choices({ field, picked, isBusy, onValue }: ChoicesProps): JSX.Element {
  return (
    <>
      {field.choices.map(({ value, title }) => (
        <label key={value} class="choice">
          <input
            type="checkbox"
            disabled={isBusy}
            checked={picked.includes(value)}
            onChange={(event) => onValue(event.currentTarget.checked ? [...picked, value] : picked.filter((other) => other !== value))}
          />{" "}
          <StrangerText text={title} maxChars={200} />
        </label>
      ))}
    </>
  );
}
