#!/usr/bin/env node
// Exists before the first build, because npm links a command only where its file is there.
import "../dist/main.js";
