/** The Pi extension: the adapter inside a Pi session. */
export const EXTENSION = "pimcp";
