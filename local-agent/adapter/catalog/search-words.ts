/** English words a search knows something about. Whoever adds one thinks of tools in general, never of one query. */
import { stem } from "./search-terms.ts";

/** Words of a question that say nothing about the tool that is looked for. */
const SILENT =
  "a about actually again all already also am an and another any anyone anything are as at available be because been before being both but by can cant could " +
  "currently did do does doing dont each either else ever every everything exactly few for from get gets getting give given go goes going gonna got had has have having he hello help " +
  "her here hers hey hi him his how i id if im in into is isnt it its ive just kindly know let lets like look looking lot make makes making many may maybe me might mine more most much " +
  "must my myself need needed needs neither no nor not now of off ok on one ones only onto or other our ours out over own please possible quick quickly really right same shall she " +
  "should since so some somebody someone something soon still such sure tell than thank thanks that the their theirs them then there these they thing things this those though through to " +
  "today too tool tools try trying under until up us use used useful user uses using very via want wanted wants was way we were what whatever whats when where whether which while who whole " +
  "whom whose why will wish with within without wont would yes yet you your yours call function mcp able give best there specific certain two three four five six seven eight nine ten " +
  "monday tuesday wednesday thursday friday saturday sunday tomorrow yesterday noon morning evening tonight particular exist existing thing stuff bit bunch";

/** Silent words that do name a tool when there is nothing better: a query of nothing but these is taken as it is. */
export const SILENT_WORDS: ReadonlySet<string> = new Set(SILENT.split(" "));

/** Each line: words that tools and their users take for one another. */
const EXCHANGEABLE = [
  "delete remove erase drop destroy discard",
  "create add new make insert",
  "list enumerate show all",
  "get fetch read retrieve view load show",
  "update edit change modify alter adjust",
  "set change configure",
  "search find query lookup locate",
  "send post write deliver submit",
  "write save store put",
  "run execute invoke launch start",
  "stop cancel abort kill terminate halt",
  "close end shut",
  "copy duplicate clone",
  "move relocate transfer",
  "rename retitle",
  "upload attach import",
  "download export",
  "click press tap push",
  "type fill enter input",
  "open navigate visit goto browse",
  "picture image photo screenshot snapshot capture",
  "photo image picture",
  "repository repo",
  "directory folder dir",
  "document doc documentation",
  "documentation docs manual reference",
  "message msg",
  "message chat dm",
  "database db",
  "table relation",
  "schema structure columns",
  "column field",
  "issue ticket bug",
  "ticket task",
  "task todo",
  "pr pull merge",
  "comment remark note reply",
  "error exception crash failure",
  "log logs trace console",
  "url link address uri",
  "page website site webpage",
  "site website",
  "web internet online",
  "calendar schedule",
  "event meeting appointment",
  "email mail",
  "person people user member contact",
  "team group",
  "channel room",
  "history past previous log",
  "diff difference changes compare",
  "changes commit",
  "permission access rights",
  "environment env",
  "variable var",
  "secret credential password token",
  "place location spot",
  "directions route way navigate",
  "price cost",
  "invoice bill",
  "payment charge",
  "customer client",
  "refund reimburse",
  "translate translation",
  "summary summarize overview",
  "statistic stats metric analytics",
  "performance speed slow fast",
  "size resize dimension",
  "wait pause sleep delay",
  "memory remember recall",
  "remember store save memorize",
  "note memo",
  "label tag",
  "assign assignee owner",
  "status state",
  "branch fork",
  "merge combine",
  "release version",
  "deploy deployment publish ship rollout",
  "scrape extract crawl",
  "convert transform",
  "parameter argument option",
  "graph chart plot",
  "disk storage drive",
  "information info details metadata",
  "id identifier",
  "subscribe follow watch",
  "colleague coworker teammate people user member",
  "hour time minute",
  "forget delete remove",
  "undo revert reset rollback restore",
  "domain host site",
  "responsive mobile device",
  "ci pipeline workflow build",
  "answer reply respond response",
  "newest latest recent",
  "vulnerability weakness security",
  "discount coupon promotion promo",
  "invite guest attendee participant",
  "pay payment checkout",
  "framework library package module dependency",
  "computer local",
  "progress status",
  "retry rerun restart again",
  "slot availability",
  "explain describe",
  "evaluate execute",
  "dialog popup alert prompt modal confirm",
  "accept confirm allow",
  "dismiss cancel decline reject",
  "month monthly recurring",
  "shop store purchase buy",
  "temperature weather forecast climate",
  "company organization",
  "shortcut hotkey key",
  "count number",
  "pointer mouse cursor",
  "backup snapshot dump",
  "outage incident problem",
];

const ACTIONS =
  "accept add adjust allow analyze answer apply approve ask assign browse buy calculate cancel change check choose clean clear click close combine " +
  "compare compile compress compute confirm connect control convert create cut decode define delete describe detect disable do download drop edit enable " +
  "encode end enter erase estimate evaluate examine execute explain extract fetch fill find finish fix follow generate get give handle hide import " +
  "improve insert inspect install invert invite join keep launch learn leave list load locate lock make manage merge modify move mute open organize pause " +
  "perform pick prepare press preview produce publish pull push put read receive reject remove rename render repair repeat replace reply reset resize " +
  "resolve restart restore retrieve return revert rotate run save scan search see select send set show skip solve sort split start stop submit subscribe " +
  "suggest sync take tell transform translate try unlock update upgrade upload use validate verify visit wait watch write";

/** Stems of what is done to things. Tools for anything do it, so it tells less of a tool than the thing it is done to. None names a thing as well. */
export const ACTION_STEMS: ReadonlySet<string> = new Set(ACTIONS.split(" ").map(stem));

/** By stem, the stems of the words that are taken for it. */
export const SYNONYMS: ReadonlyMap<string, readonly string[]> = synonyms();

function synonyms(): Map<string, readonly string[]> {
  const sets = new Map<string, Set<string>>();
  for (const line of EXCHANGEABLE) {
    const stems = [...new Set(line.split(" ").map(stem))];
    for (const one of stems) sets.set(one, new Set([...(sets.get(one) ?? []), ...stems.filter((other) => other !== one)]));
  }
  return new Map([...sets].map(([one, others]) => [one, [...others]]));
}
