import type { Socket } from "node:net";

/** How a link treats what passes. */
export interface LinkConditions {
  /** Added to every round trip, half of it each way. Timers make it a little more, never less. */
  readonly rttMs: number;
  /** Each way, in bytes per second; undefined for no limit. */
  readonly bytesPerSecond: number | undefined;
  /** Deliver in pieces of a random size between these, each in a write of its own; undefined for chunks as they came. */
  readonly slice: { readonly minBytes: number; readonly maxBytes: number } | undefined;
}

interface Parcel {
  /** Undefined stands for the end of the stream. */
  readonly data: Buffer | undefined;
  readonly dueMs: number;
}

/** What a link holds at most on its way in one direction; beyond it, the sender waits. */
const maxHeldBytes = 8 * 1024 * 1024;
/** What a limited link delivers at a time, so that its pace is even. */
const pacedBytes = 4096;

/** One direction of one proxied connection: takes chunks from a socket and delivers them in order, when and as they are due. */
export class ProxyPipe {
  readonly #source: Socket;
  readonly #sink: Socket;
  readonly #conditions: () => LinkConditions;
  readonly #random: () => number;
  readonly #onDelivered: (bytes: number) => void;
  readonly #reserve: (bytes: number) => number;
  readonly #parcels: Parcel[] = [];
  #heldBytes = 0;
  #lastDueMs = 0;
  #lineFreeMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDelivering = false;
  #isHalted = false;

  constructor(options: {
    readonly source: Socket;
    readonly sink: Socket;
    readonly conditions: () => LinkConditions;
    readonly random: () => number;
    /** Asked before each delivery: how many of so many bytes may be delivered. */
    readonly reserve: (bytes: number) => number;
    readonly onArrived: () => void;
    readonly onDelivered: (bytes: number) => void;
  }) {
    this.#source = options.source;
    this.#sink = options.sink;
    this.#conditions = options.conditions;
    this.#random = options.random;
    this.#reserve = options.reserve;
    this.#onDelivered = options.onDelivered;
    options.source.on("data", (chunk: Buffer) => {
      options.onArrived();
      this.#acceptChunk(chunk);
      if (this.#heldBytes > maxHeldBytes) options.source.pause();
    });
    options.source.on("end", () => this.#accept(undefined));
  }

  /** Nothing is read and nothing delivered any more, and nobody is told; what is on its way is kept. */
  halt(): void {
    this.#isHalted = true;
    this.#source.pause();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  resume(): void {
    this.#isHalted = false;
    if (this.#heldBytes <= maxHeldBytes) this.#source.resume();
    this.#schedule();
  }

  discard(): void {
    this.halt();
    this.#parcels.length = 0;
    this.#heldBytes = 0;
  }

  #acceptChunk(chunk: Buffer): void {
    const pieceBytes = this.#conditions().bytesPerSecond === undefined ? chunk.length : pacedBytes;
    for (let at = 0; at < chunk.length; at += pieceBytes) this.#accept(chunk.subarray(at, at + pieceBytes));
  }

  #accept(data: Buffer | undefined): void {
    const { rttMs, bytesPerSecond } = this.#conditions();
    const now = performance.now();
    const sendMs = bytesPerSecond === undefined ? 0 : ((data?.length ?? 0) / bytesPerSecond) * 1000;
    this.#lineFreeMs = Math.max(this.#lineFreeMs, now) + sendMs;
    // A link whose delay shrinks must not let later bytes overtake.
    this.#lastDueMs = Math.max(this.#lastDueMs, this.#lineFreeMs + rttMs / 2);
    this.#parcels.push({ data, dueMs: this.#lastDueMs });
    this.#heldBytes += data?.length ?? 0;
    this.#schedule();
  }

  #schedule(): void {
    const next = this.#parcels[0];
    if (next === undefined || this.#timer !== undefined || this.#isDelivering || this.#isHalted) return;
    const waitMs = next.dueMs - performance.now();
    if (waitMs <= 0) {
      void this.#deliver();
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#schedule();
    }, Math.ceil(waitMs));
  }

  async #deliver(): Promise<void> {
    this.#isDelivering = true;
    let isStopped = false;
    while (!isStopped && !this.#isHalted && this.#parcels[0] !== undefined && this.#parcels[0].dueMs <= performance.now()) {
      isStopped = !(await this.#deliverFrom(this.#parcels[0]));
    }
    this.#isDelivering = false;
    if (!isStopped) this.#schedule();
  }

  /** Delivers a first piece of the first parcel; false if there is nothing more to do. */
  async #deliverFrom(parcel: Parcel): Promise<boolean> {
    if (parcel.data === undefined) {
      this.#parcels.shift();
      this.#sink.end();
      return false;
    }
    const length = this.#reserve(Math.min(parcel.data.length, this.#sliceBytes()));
    if (length === 0) return false;
    if (length < parcel.data.length) this.#parcels[0] = { ...parcel, data: parcel.data.subarray(length) };
    else this.#parcels.shift();
    this.#heldBytes -= length;
    await this.#write(parcel.data.subarray(0, length));
    this.#onDelivered(length);
    if (this.#source.isPaused() && !this.#isHalted && this.#heldBytes <= maxHeldBytes / 2) this.#source.resume();
    return true;
  }

  #sliceBytes(): number {
    const { slice } = this.#conditions();
    if (slice === undefined) return Number.POSITIVE_INFINITY;
    return slice.minBytes + Math.floor(this.#random() * (slice.maxBytes - slice.minBytes + 1));
  }

  /** Waits until the system has the bytes: a reset after it leaves them to be read. */
  #write(data: Buffer): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        this.#sink.off("close", settle);
        // In a turn of its own, so that small pieces are not joined on their way.
        if (data.length < pacedBytes) setImmediate(resolve);
        else resolve();
      };
      this.#sink.once("close", settle);
      this.#sink.write(data, settle);
    });
  }
}
