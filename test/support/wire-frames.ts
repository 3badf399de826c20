/** Valid frames to build tests from. */
import type { Deposits, Hello, RequestFrame } from "../../shared/wire/frames.ts";

const someDeposits: Deposits = {
  origins: ["https://relay.example"],
  allowOrigins: [],
  oauth: true,
  staticTokens: [],

  offline: {
    legacy: { initialize: {}, fallbackVersion: "2025-11-25", results: {}, toolCall: {} },
    modern: { results: {}, toolCall: {} },
    otherwise: "The workstation is away.",
  },
};

export const aHello: Hello = {
  t: "hello",
  versions: { min: 1, max: 1 },
  instance: "instance-1",
  host: "host-1",
  hostName: "workstation",
  takeOver: false,
  epoch: null,
  begun: [],
  deposits: someDeposits,
};

export const aRequest: RequestFrame = {
  t: "request",
  x: 1,
  method: "POST",
  path: "/mcp",
  headers: [["content-type", "application/json"]],
  principal: { id: "grant:1", kind: "grant", name: "client", scope: ["mcp"] },
  bytes: 0,
};
