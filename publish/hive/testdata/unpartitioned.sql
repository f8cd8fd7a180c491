CREATE EXTERNAL TABLE IF NOT EXISTS `dw`.`insp_dtl` (
  `seq` decimal(10,0)
)
STORED AS PARQUET
TBLPROPERTIES ('external.table.purge'='false');

CREATE EXTERNAL TABLE IF NOT EXISTS `etl`.`insp_dtl__stg_01` (
  `seq` decimal(10,0),
  `select` decimal(18,2),
  `ratio` decimal(38,10),
  `tiny` decimal(38,30),
  `한글$#` string,
  `back``tick` timestamp,
  `bin` binary,
  `f` float,
  `d` double
)
STORED AS PARQUET
LOCATION 'hdfs://nn:8020/stage/it\'s/run_id=01'
TBLPROPERTIES ('external.table.purge'='false');

SELECT count(*)
FROM `etl`.`insp_dtl__stg_01`;

INSERT OVERWRITE TABLE `dw`.`insp_dtl`
SELECT `seq`
FROM `etl`.`insp_dtl__stg_01`;

SELECT count(*)
FROM `dw`.`insp_dtl`;

DROP TABLE IF EXISTS `etl`.`insp_dtl__stg_01`;
